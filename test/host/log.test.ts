import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { logFile } from '../../main/host/log/file.ts';
import { createLog, type HostLog, type LogEntry } from '../../main/host/log/log.ts';

interface LogSetup {
  readonly log: HostLog;
  readonly lines: string[];
  /** Returns the last line parsed as JSON. */
  readonly last: () => Record<string, unknown>;
}

function openLogRecorder(format: 'text' | 'json' = 'json', keep?: number): LogSetup {
  const lines: string[] = [];
  const log = createLog({
    level: 'info',
    format,
    write: (line) => lines.push(line),
    now: () => 0,
    ...(keep === undefined ? {} : { keep }),
  });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown> };
}

describe('log line', () => {
  test('contains time, level, part, message and fields as text', () => {
    const { log, lines } = openLogRecorder('text');
    log.child('push').info('message published', { topic: 'alerts', bytes: 12, title: 'two words', tags: ['a', 'b'] });
    expect(lines).toEqual([
      '1970-01-01T00:00:00.000Z INFO  push      message published  topic=alerts bytes=12 title="two words" tags=["a","b"]',
    ]);
  });

  test('is one JSON object whose own names cannot be overridden', () => {
    const { log, last } = openLogRecorder();
    log.warn('odd', { level: 'debug', message: 'lie', count: 1n, none: undefined });
    expect(last()).toEqual({
      time: '1970-01-01T00:00:00.000Z',
      level: 'warn',
      service: 'host',
      message: 'odd',
      _level: 'debug',
      _message: 'lie',
      count: '1',
    });
  });

  test.each(['text', 'json'] as const)('stays one line as %s and cannot control a terminal', (format) => {
    const { log, lines } = openLogRecorder(format);
    const evil = 'a\r\n1970-01-01 ERROR forged\u2028x\u001b[2J\u202e\u0085';
    log.info(evil, { evil, [evil]: evil, deep: { evil: [evil] } });
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toMatch(/[\p{Cc}\u2028\u202e]/u);
  });

  test('is omitted below the level, which can change', () => {
    const { log, lines } = openLogRecorder();
    const child = log.child('mail');
    child.debug('quiet');
    expect(child.enabled('debug')).toBe(false);
    log.level = 'debug';
    child.debug('loud');
    log.level = 'error';
    child.warn('quiet');
    expect(lines).toHaveLength(1);
    expect(log.level).toBe('error');
  });

  test('is written to stderr', () => {
    const program =
      'import { createLog } from ' +
      `${JSON.stringify(join(import.meta.dirname, '../../main/host/log/log.ts'))}; createLog({ level: ` +
      `'info', format: 'text' }).info('here');`;
    expect(
      execFileSync(process.execPath, ['--input-type=module', '-e', program], {
        stdio: ['ignore', 'pipe', 'ignore'],
      }).toString(),
    ).toBe('');
  });
});

describe('redaction', () => {
  test('removes secrets by field name at any depth', () => {
    const { log, lines } = openLogRecorder();
    const secret = 'hunter2hunter2';
    log.info('signed in', {
      password: secret,
      user: { apiKey: secret, 'api-key': secret, passphrase: secret, access_token: secret, sessionId: secret },
      headers: { Authorization: secret, cookie: secret, 'set-cookie': [secret], 'proxy-authorization': secret },
      auth: secret,
      clientSecret: { inner: secret },
      vaultKey: Buffer.from(secret),
      map: new Map([['token', secret]]),
      hasPassword: true,
      author: 'ann',
    });
    expect(lines[0]).not.toContain('hunter2');
    expect(lines[0]).toContain('"hasPassword":true');
    expect(lines[0]).toContain('"author":"ann"');
  });

  test.each([
    ['a URL with a password', 'https://ann:hunter2hunter2@host.example/path', 'host.example/path'],
    ['a URL with a bare token', 'ntfy://hunter2hunter2@host.example', 'host.example'],
    ['an auth query', 'GET /topic/json?auth=hunter2hunter2&since=all', 'since=all'],
    ['a token query', '/x?a=1&access_token=hunter2hunter2', 'a=1'],
    ['a JSON body', '{"user":"ann","password":"hunter2hunter2"}', 'ann'],
    ['a JSON body within JSON', '{\\"password\\": \\"hunter2hunter2\\"}', 'password'],
    ['a header line', 'sent Authorization: Basic hunter2hunter2', 'sent'],
    ['a bearer credential', 'refused Bearer hunter2hunter2', 'refused'],
    ['an access token of ours', 'made tk_hunter2hunter2hunter2hunter2h', 'made'],
    ['a seal of the vault', 'read v1.hunter2hunter2hunter2.abc', 'read'],
  ])('removes secrets from %s', (_name, text, stays) => {
    const { log, lines } = openLogRecorder();
    log.info(text, { text, list: [text], error: new Error(text) });
    expect(lines[0]).not.toContain('hunter2');
    expect(lines[0]).toContain(stays);
  });

  test('covers the entries of the Log page', () => {
    const { log } = openLogRecorder();
    log.info('x', { token: 'hunter2' });
    expect(JSON.stringify(log.recent())).not.toContain('hunter2');
  });

  test('takes linear time for any text', () => {
    const { log, lines } = openLogRecorder();
    for (const piece of ['a-', 'auth', '://', 'http://a', 'token=', '"password":"', 'v1.', 'Bearer ']) {
      log.info(piece.repeat(20_000), { piece: piece.repeat(20_000) });
    }
    expect(lines).toHaveLength(8);
  });
});

describe('log fields', () => {
  test('contains an error with its chain of causes', () => {
    const { log, last } = openLogRecorder();
    const cause = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });
    log.error('failed', {
      error: new TypeError('delivery failed', { cause: new AggregateError([cause], 'all failed') }),
    });
    expect(last()['error']).toMatchObject({
      name: 'TypeError',
      message: 'delivery failed',
      cause: { message: 'all failed', errors: [{ message: 'connection refused', code: 'ECONNREFUSED' }] },
    });
    expect(String((last()['error'] as Record<string, unknown>)['stack'])).toContain('log.test.ts');
  });

  test('tolerates circular, huge and hostile values', () => {
    const { log, last } = openLogRecorder();
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const looped = new Error('loop');
    looped.cause = looped;
    log.info('x', {
      circle,
      looped,
      bytes: Buffer.alloc(1e6),
      long: 'x'.repeat(1e6),
      wide: Array.from({ length: 1e5 }, (_, index) => index),
      get thrower() {
        throw new Error('no');
      },
      never: Number.NaN,
      symbol: Symbol('s'),
      date: new Date(Number.NaN),
    });
    expect(JSON.stringify(last()).length).toBeLessThan(20_000);
    expect(last()).toMatchObject({
      circle: { self: '[circular]' },
      bytes: '[1000000 bytes]',
      never: 'NaN',
      date: 'invalid date',
    });
  });
});

describe('recent entries', () => {
  test('are kept in memory up to a limit, in order', () => {
    const { log } = openLogRecorder('json', 5);
    for (let count = 1; count <= 12; count += 1) log.info(`line ${count}`);
    expect(log.recent().map((entry) => entry.message)).toEqual(['line 8', 'line 9', 'line 10', 'line 11', 'line 12']);
    expect(log.recent({ limit: 2 }).map((entry) => entry.id)).toEqual([11, 12]);
    expect(log.recent({ after: 11 }).map((entry) => entry.id)).toEqual([12]);
  });

  test('are filtered by level, part and text', () => {
    const { log } = openLogRecorder();
    log.child('push').info('published', { topic: 'Alerts' });
    log.child('push').error('broken');
    log.child('mail').warn('refused', { recipient: 'ann' });
    expect(log.recent({ level: 'warn' })).toHaveLength(2);
    expect(log.recent({ service: 'push', level: 'error' })).toHaveLength(1);
    expect(log.recent({ text: 'alerts' })).toHaveLength(1);
  });

  test('reaches subscribers until disposal and ignores one that throws', () => {
    const { log } = openLogRecorder();
    const seen: LogEntry[] = [];
    const subscription = log.subscribe((entry) => seen.push(entry));
    log.subscribe(() => {
      throw new Error('reader');
    });
    log.info('one');
    subscription[Symbol.dispose]();
    log.info('two');
    expect(seen.filter((entry) => entry.message === 'one')).toHaveLength(1);
    expect(seen.some((entry) => entry.message === 'two')).toBe(false);
  });
});

describe('log file', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'log-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('rotates, limits its files, and continues after a restart', () => {
    const path = join(folder, 'homeport.log');
    {
      using file = logFile(path, { maxBytes: 100, keep: 2 });
      for (let count = 0; count < 20; count += 1)
        file.write(`line ${String(count).padStart(2, '0')} ${'.'.repeat(20)}`);
    }
    using file = logFile(path, { maxBytes: 100, keep: 2 });
    file.write('after the restart');
    expect(readdirSync(folder).sort()).toEqual(['homeport.log', 'homeport.log.1', 'homeport.log.2']);
    const all = ['.2', '.1', ''].map((end) => readFileSync(path + end, 'utf8')).join('');
    expect(all).toMatch(/line 18 \.+\nline 19 \.+\nafter the restart\n$/);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).size).toBeLessThanOrEqual(100);
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('continues in its file while a file cannot be rotated', () => {
    const path = join(folder, 'homeport.log');
    // A rename over a folder fails, as on Windows one over a file that a program has open.
    mkdirSync(`${path}.1`);
    using file = logFile(path, { maxBytes: 100, keep: 1 });
    for (let count = 0; count < 20; count += 1) file.write(`line ${String(count).padStart(2, '0')}`);
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    expect(lines).toHaveLength(20);
    rmSync(`${path}.1`, { recursive: true });
    for (let count = 0; count < 3; count += 1) file.write(`line ${'.'.repeat(20)}`);
    expect(readFileSync(`${path}.1`, 'utf8')).toContain('line 19');
  });

  test('survives a missing or full folder and reports lost lines', () => {
    const path = join(folder, 'later', 'homeport.log');
    using file = logFile(path);
    file.write('lost');
    file.write('lost');
    execFileSync('mkdir', [join(folder, 'later')]);
    file.write('found');
    expect(readFileSync(path, 'utf8')).toMatch(/lines lost.*2\}\nfound\n$/);
  });

  test('can be reopened after it was moved', () => {
    const path = join(folder, 'homeport.log');
    using file = logFile(path);
    file.write('before');
    rmSync(path);
    file.reopen();
    file.write('after');
    expect(readFileSync(path, 'utf8')).toBe('after\n');
  });

  test.runIf(process.platform === 'linux')('tolerates a full disk', () => {
    using file = logFile('/dev/full');
    expect(() => file.write('line')).not.toThrow();
  });
});
