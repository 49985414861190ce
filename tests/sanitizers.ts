/**
 * Loaded before each test file: a test that leaves a timer, a file or a connection behind fails. A
 * file opts out with `Deno.test.sanitizer`, and says why. The setting of `deno.json` cannot be
 * overridden by a file.
 */
Deno.test.sanitizer({ ops: true, resources: true });
