import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';

/**
 * Makes every sync of a process slower, as on a hard disk or a consumer SSD without a cache: the disk of a build
 * machine often answers a sync from memory. Returns the environment to start a process with.
 */
export function slowSync(folder: string, milliseconds: number): Record<string, string> {
  const source = join(folder, 'slow-sync.c');
  const library = join(folder, 'slow-sync.so');
  writeFileSync(
    source,
    `#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
static int after_a_while(const char *name, int fd) {
  struct timespec pause = {0, ${Math.round(milliseconds * 1e6)}};
  nanosleep(&pause, 0);
  return ((int (*)(int))dlsym(RTLD_NEXT, name))(fd);
}
int fsync(int fd) { return after_a_while("fsync", fd); }
int fdatasync(int fd) { return after_a_while("fdatasync", fd); }
`,
  );
  const { status, stderr } = spawnSync('gcc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the slow sync could not be built: ${stderr}`);
  return { LD_PRELOAD: library };
}
