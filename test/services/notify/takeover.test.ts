import * as problems from '#messages/notify-problems';
import * as texts from '#messages/notify-texts';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { notify } from '../../../services/notify/index.ts';
import { adminAuthorization, openTestHost } from '../../support/host.ts';

const entry = fileURLToPath(new URL('../../../main/homeport.mjs', import.meta.url));
let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'apprise-api-'));
  mkdirSync(join(dataDir, 'data'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

function put(path: string, content: string | Uint8Array): void {
  const file = join(dataDir, 'store', path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

/** SHA-224 of `s3crethome`: the key `home` of a store whose SECRET_KEY is `s3cret`. */
const home = '26e371863578dea5968b4591e665817c97c2b0b39bf67c1991b92c03';
const file = (hash: string, ending: string): string => `${hash.slice(0, 2)}/${hash.slice(2)}.${ending}`;

async function run(args: readonly string[] = [], environment: Readonly<Record<string, string>> = {}): Promise<string> {
  const command = [
    entry,
    'import',
    'apprise-api',
    join(dataDir, 'store'),
    '--data-dir',
    join(dataDir, 'data'),
    ...args,
  ];
  const { stdout } = await promisify(execFile)(process.execPath, command, { env: { ...process.env, ...environment } });
  return stdout;
}

/** Returns the configurations of the keys after the host ran on the data folder. */
async function readKeys(...keys: readonly string[]): Promise<readonly string[]> {
  await using host = await openTestHost({ services: [notify], dataDir: join(dataDir, 'data') });
  const get = async (key: string): Promise<string> => {
    const headers = { authorization: adminAuthorization };
    const reply = await fetch(`${host.url('notify')}/get/${key}`, { method: 'POST', headers });
    return reply.status === 200 ? reply.text() : String(reply.status);
  };
  return await Promise.all(keys.map(get));
}

describe('the store of an Apprise API', () => {
  it('imports a simple store byte for byte, and lists lines without effect', async () => {
    put('family.cfg', '# ours\nmum,dad=json://u:pa55word@nas/a\nnosuch://x\n');
    put('work.yml', 'urls:\n  - json://nas/b\n');
    put('aggregator.cfg', 'json://nas/c\n');
    put('.hidden.cfg', 'json://x');
    put('not a key.cfg', 'json://x');
    put('binary.cfg', Buffer.from([0xff, 0xfe, 0]));
    symlinkSync('/etc/hostname', join(dataDir, 'store', 'linked.cfg'));
    const output = await run();
    expect(output.trimEnd().split('\n')).toEqual([
      texts.imported({ count: 2 }),
      texts.importNotText({ file: 'binary.cfg' }),
      texts.importNotAFile({ file: 'linked.cfg' }),
      texts.importOtherKey({ key: 'aggregator' }),
      texts.importedTaggedKey({ key: 'family', count: 1 }),
      texts.importedLineIgnored({
        key: 'family',
        line: '3',
        reason: problems.schemeUnsupported({ scheme: 'nosuch' }),
      }),
      texts.importedKey({ key: 'work', count: 1 }),
    ]);
    expect(output).not.toContain('pa55word');
    expect(await readKeys('family', 'work')).toEqual([
      '# ours\nmum,dad=json://u:pa55word@nas/a\nnosuch://x\n',
      'urls:\n  - json://nas/b\n',
    ]);
    expect(await run()).toContain(texts.imported({ count: 0 }));
  }, 60_000);

  it('imports a hashed store under the listed keys, and unknown ones under generated names', async () => {
    put(file(home, 'text'), gzipSync('json://nas/home\n'));
    put(file('a'.repeat(56), 'yaml'), gzipSync('urls: json://nas/who\n'));
    put(file('b'.repeat(56), 'text'), 'not packed');
    put(file('c'.repeat(56), 'text'), gzipSync(Buffer.alloc(50_000_000, 0x61)));
    const environment = { SECRET_KEY: 's3cret', APPRISE_KEYS: 'home, other' };
    const planned = await run(['--dry-run'], environment);
    expect(planned).toContain(texts.importPlanned({ count: 2 }));
    expect(await readKeys('home')).toEqual(['204']);
    const output = await run([], environment);
    expect(output).toContain(texts.importedKey({ key: 'home', count: 1 }));
    expect(output).toMatch(/bb.*can’t be read \(Z_DATA_ERROR\)\./);
    expect(output).toMatch(/cc.*can’t be read \(ERR_BUFFER_TOO_LARGE\)\./);
    const [named = ''] = /imported-[0-9a-f]{8}/.exec(output) ?? [];
    expect(await readKeys('home', named)).toEqual(['json://nas/home\n', 'urls: json://nas/who\n']);
  }, 60_000);

  it('refuses a folder without a store', async () => {
    await expect(run()).rejects.toMatchObject({
      stderr: expect.stringContaining('No Apprise API configurations') as string,
    });
  }, 60_000);
});
