import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'homeport-signals-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'forwards %s to the desktop app and waits for its end',
  async (signal) => {
    const [app, program] = [join(folder, signal), join(folder, `${signal}.sh`)];
    // Ends with its parent; otherwise it would hold the output of the run open.
    const waiting = 'while kill -0 $PPID 2>/dev/null; do sleep 0.05; done';
    writeFileSync(program, `#!/bin/sh\ntrap 'echo over > "$1"; exit 3' TERM\necho open\n${waiting}\n`);
    chmodSync(program, 0o755);
    const choice = fileURLToPath(new URL('../../main/desktop/choice.ts', import.meta.url));
    const text = `import { runDesktopShell } from ${JSON.stringify(choice)};
    process.exitCode = await runDesktopShell(${JSON.stringify({ program, app })}, []);`;
    const starter = spawn(process.execPath, ['--input-type=module', '-e', text], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(starter.stdout, 'data');
    starter.kill(signal);
    expect(await once(starter, 'exit')).toEqual([3, null]);
    expect(readFileSync(app, 'utf8')).toBe('over\n');
  },
);
