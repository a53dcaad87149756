// SPDX-License-Identifier: GPL-2.0-or-later
/* Frames: what was sent comes back, in whatever pieces; what is damaged does not, and hides nothing else. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>

#include "libcgwb/frame.h"

#define SEEN_MAX 16

struct seen {
	char text[SEEN_MAX][256]; /* "type json" */
	size_t n;
	int answer;
};

static int on_frame(void *userdata, const struct cgwb_frame *frame)
{
	struct seen *seen = userdata;

	assert_true(seen->n < SEEN_MAX);
	assert_int_equal(strlen(frame->json), frame->bytes);
	snprintf(seen->text[seen->n++], sizeof(seen->text[0]), "%s %s", frame->type, frame->json);
	return seen->answer;
}

/* Appends a frame to @stream; returns its bytes. */
static size_t add(char *stream, const char *type, const char *json)
{
	size_t n;
	char *text;

	assert_int_equal(cgwb_frame_encode(type, json, strlen(json), &text, &n), 0);
	assert_int_equal(strlen(text), n);
	strcat(stream, text);
	free(text);
	return n;
}

static uint64_t parse(struct seen *seen, const char *stream, size_t bytes, size_t piece)
{
	struct cgwb_frame_parser *parser = cgwb_frame_parser_new(on_frame, seen);
	size_t at, n;
	uint64_t torn;

	memset(seen, 0, sizeof(*seen));
	assert_non_null(parser);
	for (at = 0; at < bytes; at += n) {
		n = bytes - at < piece ? bytes - at : piece;
		assert_int_equal(cgwb_frame_parser_feed(parser, stream + at, n), 0);
	}
	assert_int_equal(cgwb_frame_parser_end(parser), 0);
	torn = cgwb_frame_parser_torn(parser);
	assert_null(cgwb_frame_parser_free(parser));
	return torn;
}

static void test_encode(void **unused)
{
	char *text;
	size_t n;

	/* The check value that every description of CRC-32 gives. */
	assert_int_equal(cgwb_frame_encode("result", "123456789", 9, &text, &n), 0);
	assert_string_equal(text, "cgwb1 result 9 cbf43926\n123456789\n");
	free(text);
	assert_int_equal(cgwb_frame_encode("", "{}", 2, &text, &n), -EINVAL);
	assert_int_equal(cgwb_frame_encode("Result", "{}", 2, &text, &n), -EINVAL);
	assert_int_equal(cgwb_frame_encode("a b", "{}", 2, &text, &n), -EINVAL);
	assert_int_equal(cgwb_frame_encode("abcdefghijklmnopqrstuvwxyzabcdef", "{}", 2, &text, &n),
			 -EINVAL);
}

static void test_pieces(void **unused)
{
	char stream[1024] = "";
	struct seen seen;
	size_t piece;

	add(stream, "progress", "{\"phase\":\"boot\"}");
	add(stream, "progress", "");
	add(stream, "result", "{\"a\":\"cgwb1 result 2 00000000\\n\"}");
	for (piece = 1; piece <= strlen(stream); piece++) {
		assert_int_equal(parse(&seen, stream, strlen(stream), piece), 0);
		assert_int_equal(seen.n, 3);
		assert_string_equal(seen.text[0], "progress {\"phase\":\"boot\"}");
		assert_string_equal(seen.text[1], "progress ");
		assert_string_equal(seen.text[2], "result {\"a\":\"cgwb1 result 2 00000000\\n\"}");
	}
}

/* Whatever one byte of the middle frame becomes, it is not delivered, and its neighbours are. */
static void test_damage(void **unused)
{
	char stream[1024] = "", damaged[1024];
	struct seen seen;
	size_t first, second, i;

	first = add(stream, "progress", "{\"n\":1}");
	second = add(stream, "result", "{\"n\":2}");
	add(stream, "progress", "{\"n\":3}");
	for (i = first; i < first + second; i++) {
		strcpy(damaged, stream);
		damaged[i] ^= 1;
		parse(&seen, damaged, strlen(damaged), 7);
		/* A damaged type is another type: the checksum is of the JSON. */
		if (seen.n == 3 && i < first + strlen("cgwb1 result ")) {
			assert_string_not_equal(seen.text[1], "result {\"n\":2}");
			continue;
		}
		assert_int_equal(seen.n, 2);
		assert_string_equal(seen.text[0], "progress {\"n\":1}");
		assert_string_equal(seen.text[1], "progress {\"n\":3}");
	}
}

/* A guest that dies: wherever the stream ends, there is the frame before and no more. */
static void test_torn_end(void **unused)
{
	char stream[1024] = "";
	struct seen seen;
	size_t first, all, i;

	first = add(stream, "progress", "{\"n\":1}");
	add(stream, "result", "{\"n\":2}");
	all = strlen(stream);
	for (i = first; i < all; i++) {
		parse(&seen, stream, i, 5);
		assert_int_equal(seen.n, 1);
	}
	assert_int_equal(parse(&seen, stream, all - 1, 5), 1);
}

/* A frame that lost bytes swallows nothing of the next one. */
static void test_torn_middle(void **unused)
{
	char stream[1024] = "";
	struct seen seen;
	size_t n;

	n = add(stream, "result",
		"{\"long\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}");
	stream[n - 30] = '\0';
	add(stream, "progress", "{\"n\":2}");
	add(stream, "result", "{\"n\":3}");
	assert_int_equal(parse(&seen, stream, strlen(stream), 3), 1);
	assert_int_equal(seen.n, 2);
	assert_string_equal(seen.text[0], "progress {\"n\":2}");
	assert_string_equal(seen.text[1], "result {\"n\":3}");
}

static void test_noise(void **unused)
{
	char stream[1024] = "SeaBIOS\r\ncgwb1 cgwb1 \ncgwcgwb";
	struct seen seen;

	add(stream, "result", "{}");
	strcat(stream, "[   12.3] Kernel panic cg");
	parse(&seen, stream, strlen(stream), 1);
	assert_int_equal(seen.n, 1);
	strcpy(stream, "");
	add(stream, "result", "{}");
	assert_int_equal(parse(&seen, stream, strlen(stream), 1), 0);
	assert_int_equal(seen.n, 1);
}

/* A length that nothing can have does not make the parser wait for it. */
static void test_huge_length(void **unused)
{
	char stream[1024] = "cgwb1 result 99999999 00000000\n";
	struct seen seen;

	add(stream, "result", "{}");
	parse(&seen, stream, strlen(stream), 4096);
	assert_int_equal(seen.n, 1);
	strcpy(stream, "cgwb1 result 999999999999999999999 00000000\n");
	add(stream, "result", "{}");
	parse(&seen, stream, strlen(stream), 4096);
	assert_int_equal(seen.n, 1);
}

static void test_stop(void **unused)
{
	struct seen seen = { .answer = -ECANCELED };
	struct cgwb_frame_parser *parser = cgwb_frame_parser_new(on_frame, &seen);
	char stream[1024] = "";

	add(stream, "progress", "{}");
	add(stream, "progress", "{}");
	assert_int_equal(cgwb_frame_parser_feed(parser, stream, strlen(stream)), -ECANCELED);
	assert_int_equal(seen.n, 1);
	cgwb_frame_parser_free(parser);
	assert_null(cgwb_frame_parser_free(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_encode),	    cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_damage),	    cmocka_unit_test(test_torn_end),
		cmocka_unit_test(test_torn_middle), cmocka_unit_test(test_noise),
		cmocka_unit_test(test_huge_length), cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
