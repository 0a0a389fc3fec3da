import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Programs of other systems that are first on the PATH until they are disposed. */
export interface ProgramStandIns extends Disposable {
  /** Returns the arguments of each call so far, joined by spaces. */
  calls(program: string): readonly string[];
}

/**
 * Puts shell scripts first on the PATH, by name of the program; `$*` are its arguments.
 *
 * @example
 * using programs = standInPrograms({ taskkill: 'kill -9 "$2"' });
 */
export function standInPrograms(scripts: Readonly<Record<string, string>>): ProgramStandIns {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-programs-'));
  const logFile = (program: string): string => join(folder, `${program}.log`);
  for (const [program, script] of Object.entries(scripts)) {
    const file = join(folder, program);
    writeFileSync(file, `#!/bin/sh\necho "$*" >> '${logFile(program)}'\n${script}\n`);
    chmodSync(file, 0o755);
  }
  const { PATH = '' } = process.env;
  process.env['PATH'] = `${folder}${delimiter}${PATH}`;
  return {
    calls(program) {
      const file = logFile(program);
      return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
    },
    [Symbol.dispose]() {
      process.env['PATH'] = PATH;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
