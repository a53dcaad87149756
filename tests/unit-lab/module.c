/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What libkmod reads of a kernel module, and nothing else of one. */
#define INFO(n, text) static const char info_##n[] __attribute__((section(".modinfo"), used)) = text

INFO(license, "license=GPL");
#if defined(MODULE_leaf)
INFO(name, "name=leaf");
INFO(vermagic, "vermagic=1.2.3-test SMP preempt mod_unload ");
INFO(depends, "depends=");
#elif defined(MODULE_branch)
INFO(name, "name=branch");
INFO(vermagic, "vermagic=1.2.3-test SMP preempt mod_unload ");
INFO(depends, "depends=leaf,trunk");
INFO(softdep, "softdep=pre: wished post: cgwb_disk");
#elif defined(MODULE_cgwb_disk)
INFO(name, "name=cgwb_disk");
INFO(vermagic, "vermagic=1.2.3-test SMP preempt mod_unload ");
INFO(depends, "depends=");
#else
INFO(name, "name=foreign");
INFO(vermagic, "vermagic=1.2.3-test-2 SMP preempt mod_unload ");
INFO(depends, "depends=");
#endif
