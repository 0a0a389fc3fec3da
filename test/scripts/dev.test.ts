import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { admin, adminAuthorization } from '../support/host.ts';

const script = fileURLToPath(new URL('../../scripts/dev.ts', import.meta.url));

it('runs the selected services from sources with sample data and the pages in front of them', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'homeport-dev-'));
  const ports = { HOMEPORT_PORT_CONTROL: String(await freePort()), HOMEPORT_PORT_PUSH: String(await freePort()) };
  const options = ['--only', 'push,inbox', '--data-dir', dataDir, '--port', String(await freePort())];
  const child = spawn(process.execPath, [script, ...options], { env: { ...process.env, ...ports } });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
  }
  try {
    const find = (pattern: RegExp): string | undefined => lines.find((line) => pattern.test(line));
    await vi.waitFor(() => expect(find(/^ready/), lines.join('\n')).toBeDefined());
    expect(find(/^ready/)).toBe(
      `ready push=http://127.0.0.1:${ports.HOMEPORT_PORT_PUSH} control=http://127.0.0.1:${ports.HOMEPORT_PORT_CONTROL}`,
    );
    const pages = await vi.waitFor(() => {
      const address = /^pages (\S+)/.exec(find(/^pages/) ?? '')?.[1];
      if (address === undefined) throw new Error(lines.join('\n'));
      return address;
    });
    expect(await (await fetch(pages)).text()).toContain('/@vite/client');
    // A changing request of the page, whose origin is that of the development server.
    const headers = { authorization: adminAuthorization, origin: new URL(pages).origin };
    const items = await fetch(`${pages}api/inbox`, { headers });
    expect(((await items.json()) as { items: unknown[] }).items.length).toBeGreaterThan(5);
    const signIn = await fetch(`${pages}api/session`, {
      method: 'POST',
      headers: { origin: new URL(pages).origin, 'content-type': 'application/json' },
      body: JSON.stringify({ name: admin.name, password: admin.password }),
    });
    expect(signIn.status).toBeLessThan(300);
    const foreign = await fetch(`${pages}api/session`, {
      method: 'POST',
      headers: { origin: 'http://evil.example', 'content-type': 'application/json' },
      body: JSON.stringify({ name: admin.name, password: admin.password }),
    });
    expect(foreign.status).toBe(403);
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
    rmSync(dataDir, { recursive: true, force: true });
  }
});

it.each([[], ['--fresh']])('keeps a folder with other data, with the options %j', async (...options: string[]) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'homeport-dev-'));
  try {
    writeFileSync(join(dataDir, 'homeport.yaml'), '');
    const child = spawn(process.execPath, [script, '--data-dir', dataDir, ...options], { stdio: 'ignore' });
    expect(await once(child, 'exit')).toEqual([2, null]);
    expect(readdirSync(dataDir)).toEqual(['homeport.yaml']);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
