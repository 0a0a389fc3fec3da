import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findPortHolder, type PortHolder } from '../../../main/host/platform/port-holder.ts';

const listening = `require('node:net').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port) })`;
let folder: string;
let child: ChildProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-'));
});
afterEach(() => {
  child?.kill();
  rmSync(folder, { recursive: true });
});

async function findHolder(args: readonly string[]): Promise<PortHolder | undefined> {
  child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(child.stdout!, 'data')) as [Buffer];
  return await findPortHolder(Number(port));
}

it.skipIf(process.platform !== 'linux')('names a script by its file without inline code', async () => {
  const script = join(folder, 'bridge.cjs');
  writeFileSync(script, listening);
  expect(await findHolder(['--no-warnings', script])).toEqual({ pid: child?.pid, name: 'node bridge.cjs' });
  child?.kill();
  expect(await findHolder(['-e', `const token = 'secret'; ${listening}`])).toEqual({ pid: child?.pid, name: 'node' });
});
