import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { admin as account } from '../../support/host.ts';
import { startHostProcess } from '../../support/host-process.ts';
import { openRig, type Rig } from './rig.ts';

const user = 'admin:adminpass';

interface ProcessResult {
  readonly code: number | null;
  /** Parsed output. */
  readonly messages: readonly any[];
  readonly output: string;
  readonly errors: string;
}

/** Tests ntfy's command line client, whose path is given. */
export function describeNtfyCommand(binary: string): void {
  describe('ntfy command line client', () => {
    let rig: Rig;
    let folder: string;
    let token: string;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'push-ntfy-'));
      rig = await openRig();
      token = (await rig.context.accounts.createToken('admin', { label: 'cli', expiresAt: null })).text;
    });
    afterAll(async () => {
      await rig[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    });

    const start = (...args: readonly string[]): ChildProcess => {
      // Excludes the developer's configuration; topics without host would use the public ntfy server.
      const env = { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder, NTFY_LOG_LEVEL: 'warn' };
      return spawn(binary, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    };
    const run = async (args: readonly string[], input: string | Buffer = ''): Promise<ProcessResult> => {
      const child = start(...args);
      let output = '';
      let errors = '';
      child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
      child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (errors += chunk));
      child.stdin?.end(input);
      const [code] = (await once(child, 'close')) as [number | null];
      const messages = output.split('\n').filter((line) => line.startsWith('{'));
      return { code, messages: messages.map((line) => JSON.parse(line)), output, errors };
    };
    const topic = (name: string): string => `http://127.0.0.1:${String(rig.port)}/${name}`;
    const publish = async (...args: readonly string[]): Promise<any> => {
      const { code, messages, errors } = await run(['publish', '--user', user, ...args]);
      expect({ code, errors }).toEqual({ code: 0, errors: '' });
      return messages[0];
    };
    const poll = async (...args: readonly string[]): Promise<readonly any[]> =>
      (await run(['subscribe', '--user', user, '--poll', ...args])).messages;
    const config = (name: string, text: object): string => {
      const file = join(folder, `${name}.yml`);
      writeFileSync(file, JSON.stringify({ 'default-host': topic('').slice(0, -1), ...text }));
      return file;
    };

    it('publishes with all flags', async () => {
      const message = await publish(
        ...['--title', 'Größe', '--message', 'all of it', '--priority', 'high', '--tags', 'warning,disk'],
        ...['--click', 'https://c.example', '--icon', 'https://i.example/i.png', '--markdown', '--no-firebase'],
        ...['--actions', 'view, Open, https://o.example; http, Close, https://x.example, method=PUT'],
        ...['--attach', 'https://a.example/a.zip', '--filename', 'b.zip', topic('flags')],
      );
      expect(message).toMatchObject({
        event: 'message',
        topic: 'flags',
        title: 'Größe',
        message: 'all of it',
        priority: 4,
        tags: ['warning', 'disk'],
        click: 'https://c.example',
        icon: 'https://i.example/i.png',
        content_type: 'text/markdown',
        actions: [
          { action: 'view', label: 'Open', url: 'https://o.example' },
          { action: 'http', label: 'Close', url: 'https://x.example', method: 'PUT' },
        ],
        attachment: { name: 'b.zip', url: 'https://a.example/a.zip' },
      });
      expect(await poll(topic('flags'))).toEqual([message]);
      expect(await publish('--no-cache', topic('flags'), 'gone')).not.toHaveProperty('expires');
      expect(await poll(topic('flags'))).toHaveLength(1);
      expect(await publish('--quiet', topic('flags'), 'still')).toBeUndefined();
    });

    it('publishes standard input, the result of a command, and nothing', async () => {
      const piped = await run(['publish', '--user', user, topic('ways')], 'from a pipe\n');
      expect(piped.messages).toMatchObject([{ message: 'from a pipe' }]);
      expect(await publish('--wait-cmd', topic('ways'), 'false')).toMatchObject({
        message: expect.stringMatching(/^Command failed after .*exit code 1\): false$/),
      });
      expect(await publish(topic('ways'))).toMatchObject({ message: 'triggered' });
    });

    it('publishes delayed messages and lists them', async () => {
      const delayed = await publish('--delay', '30m', topic('later'), 'tea');
      expect(delayed.time - Date.now() / 1000).toBeGreaterThan(1700);
      expect(await poll(topic('later'))).toEqual([]);
      expect(await poll('--scheduled', topic('later'))).toEqual([delayed]);
      expect((await run(['publish', '--user', user, '--delay', '1s', topic('later'), 'x'])).errors).toContain('40005');
    });

    it('uploads a file and standard input as a file', async () => {
      const bytes = Buffer.from(Array.from({ length: 10_000 }, (_, index) => index % 256));
      mkdirSync(join(folder, 'files'), { recursive: true });
      writeFileSync(join(folder, 'files', 'flower.bin'), bytes);
      const { attachment, message } = await publish(
        ...['--file', join(folder, 'files', 'flower.bin'), topic('files'), 'Nice!'],
      );
      expect({ message, name: attachment.name, size: attachment.size }).toEqual({
        message: 'Nice!',
        name: 'flower.bin',
        size: 10_000,
      });
      const download = await fetch(attachment.url);
      expect(Buffer.from(await download.arrayBuffer()).equals(bytes)).toBe(true);
      const published = await run(['publish', '--user', user, '--file', '-', topic('files'), 'read'], bytes);
      expect(published.messages).toMatchObject([{ attachment: { name: 'stdin', size: 10_000 } }]);
    });

    it('authenticates with password, token and configuration', async () => {
      const publishAs = async (...args: readonly string[]) => {
        const { code, errors } = await run(['publish', ...args]);
        return code === 0 ? 'published' : (/"code":(\d+)/.exec(errors)?.[1] ?? errors);
      };
      expect(await publishAs('--token', token, topic('who'), 'x')).toBe('published');
      expect(await publishAs('--user', user, topic('who'), 'x')).toBe('published');
      expect(await publishAs('--config', config('token', { 'default-token': token }), 'who', 'x')).toBe('published');
      const password = { 'default-user': 'admin', 'default-password': 'adminpass' };
      expect(await publishAs('--config', config('password', password), 'who', 'x')).toBe('published');
      expect(await publishAs('--token', `${token.slice(0, -1)}!`, topic('who'), 'x')).toContain('40101');
      expect(await publishAs(topic('who'), 'x')).toContain('40301');
      expect(await publishAs('--user', user, '--email', 'a@b.example', topic('who'), 'x')).toContain('40001');
    });

    it('polls since a time, a duration, a message, all or none', async () => {
      const first = await publish(topic('since'), 'one');
      const second = await publish(topic('since'), 'two');
      for (const [since, expected] of [
        ['all', [first, second]],
        ['10m', [first, second]],
        [String(first.time), [first, second]],
        [String(second.time + 100), []],
        [first.id, [second]],
        ['none', []],
      ] as const) {
        expect(await poll('--since', since, topic('since')), since).toEqual(expected);
      }
      expect(await poll(`${topic('since')},flags`)).toHaveLength(4);
    });

    it('subscribes to topics of its configuration, each with a filter and a command', async () => {
      const file = config('service', {
        subscribe: [
          { topic: 'loud', user: 'admin', password: 'adminpass', if: { priority: 'high,urgent' } },
          { topic: 'tagged', token, command: 'echo "run $topic $m $p $tags"', if: { tags: 'disk' } },
        ],
      });
      const child = start('subscribe', '--config', file, '--from-config');
      let output = '';
      child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
      try {
        await expect.poll(() => rig.metric('push_subscribers'), { timeout: 10_000 }).toBe(2);
        await publish(topic('loud'), 'quiet');
        const loud = await publish('--priority', '5', topic('loud'), 'loud');
        await publish('--tags', 'cpu', topic('tagged'), 'other');
        await publish('--tags', 'disk,full', '--priority', '2', topic('tagged'), 'Platte');
        await expect
          .poll(() =>
            output
              .split('\n')
              .filter((line) => line !== '')
              .toSorted(),
          )
          .toEqual(['run tagged Platte 2 disk,full', JSON.stringify(loud)]);
      } finally {
        child.kill();
      }
    });

    it('reconnects after the server was killed and restarted', async () => {
      const dataDir = join(folder, 'restart');
      const port = await freePort();
      const environment = { HOMEPORT_PORT_PUSH: String(port) };
      const credentials = `${account.name}:${account.password}`;
      const topicUrl = `http://127.0.0.1:${String(port)}/restart`;
      await using first = await startHostProcess(dataDir, { environment });
      const child = start('subscribe', '--user', credentials, '--since', 'all', topicUrl);
      let output = '';
      child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
      try {
        expect((await run(['publish', '--user', credentials, topicUrl, 'before'])).code).toBe(0);
        await expect.poll(() => output).toContain('"before"');
        await first.kill();
        await using _second = await startHostProcess(dataDir, { environment });
        expect((await run(['publish', '--user', credentials, topicUrl, 'after'])).code).toBe(0);
        // It reconnects after ten seconds and requests everything again.
        await expect.poll(() => output, { timeout: 25_000 }).toContain('"after"');
      } finally {
        child.kill();
      }
    }, 60_000);
  });
}
