import * as m from '#messages/command-line';
import * as accountProblems from '#messages/account-problems';
import { readFileSync } from 'node:fs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseCommandLine } from '../../main/host/cli/command-line.ts';
import { runCommand } from '../../main/host/cli/commands.ts';
import { control } from '../../services/control/index.ts';
import { gateway } from '../../services/gateway/index.ts';
import { fixtureService } from '../support/fixture-service.ts';
import { lan, sharing } from '../support/gateway/phone.ts';
import { admin, openTestHost, type TestHost } from '../support/host.ts';

const newPassword = 'quiet-maple-17-harbor';
const services = [fixtureService('lamp'), control, gateway];
let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'homeport-accounts-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a command on the data folder and returns the lines that it prints. */
async function run(...argv: readonly string[]): Promise<readonly string[]> {
  const command = parseCommandLine(argv);
  if (command.name !== 'accounts reset') throw new Error(JSON.stringify(command));
  const lines: string[] = [];
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    lines.push(...String(text).split('\n'));
    return true;
  });
  try {
    await runCommand(command, { dataDir: folder, descriptors: services });
  } finally {
    write.mockRestore();
  }
  return lines.filter((line) => line !== '');
}

const findToken = (lines: readonly string[]): string =>
  lines.find((line) => line.includes('/link#'))?.split('#')[1] ?? '';

async function use(host: TestHost, token: string): Promise<Response> {
  return fetch(`${host.url('control')}/api/session/link/use`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token, password: newPassword }),
  });
}

describe('homeport accounts reset', () => {
  it('prints links for this computer and the network while the host runs, and they sign in', async () => {
    const environment = sharing({ GATEWAY_SHARED: 'lamp' });
    await using host = await openTestHost({ services, dataDir: folder, environment });
    const lines = await run('accounts', 'reset', admin.name);
    expect(lines).not.toContain(m.resetLinkStartFirst());
    const pages = lines.filter((line) => line.includes('#')).map((line) => line.replace(/#.*$/, ''));
    expect(pages).toEqual([
      expect.stringMatching(new RegExp(`^https://${lan}:\\d+/\\.homeport/link$`)),
      `${host.url('control')}/link`,
    ]);
    const token = findToken(lines);
    const reply = await use(host, token);
    expect([reply.status, await reply.json()]).toEqual([200, expect.objectContaining({ name: admin.name })]);
    expect((await use(host, token)).status).toBe(403);
    const log = readFileSync(join(folder, 'logs', 'homeport.log'), 'utf8');
    expect(log).toContain(`reset of ${admin.name}`);
    expect([...host.log, log].join('\n')).not.toContain(token);
  });

  it('works without a running host, and says that it must be started', async () => {
    await (await openTestHost({ services, dataDir: folder }))[Symbol.asyncDispose]();
    const lines = await run('accounts', 'reset', admin.name, '--second-factor');
    expect(lines).toContain(m.resetLinkStartFirst());
    expect(lines).toContain(m.resetLinkSecondFactor({ name: admin.name }));
    await using host = await openTestHost({ services, dataDir: folder });
    expect((await use(host, findToken(lines))).status).toBe(200);
  });

  it('refuses unknown accounts, missing names and missing folders', async () => {
    await (await openTestHost({ services, dataDir: folder }))[Symbol.asyncDispose]();
    await expect(run('accounts', 'reset', 'nobody')).rejects.toThrow(
      accountProblems.accountNotFound({ name: 'nobody' }),
    );
    expect(parseCommandLine(['accounts', 'reset'])).toMatchObject({
      name: 'invalid',
      message: m.invalid({ reason: m.accountNameMissing() }),
    });
    const missing = { dataDir: join(folder, 'missing'), descriptors: services };
    const command = { name: 'accounts reset', dataDir: undefined, account: 'ada', secondFactor: false } as const;
    await expect(runCommand(command, missing)).rejects.toThrow(m.dataFolderMissing({ folder: missing.dataDir }));
  });
});
