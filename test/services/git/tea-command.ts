import { createServer, request as ask } from 'node:http';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGitFixture, type GitFixture } from './git-fixture.ts';
import { openWalk, pushBranch, teaWalk } from './tea-walk.ts';

/** Requests and responses of tea in one step. */
export interface TeaCall {
  readonly step: number;
  readonly method: string;
  readonly path: string;
  readonly type: string | undefined;
  readonly body: string;
  readonly status: number;
}

/** Runs Gitea's command line client at a path like its users. With `record`, requests are written to a file. */
export function describeTeaCommand(binary: string, record: string | undefined): void {
  describe('the tea command', () => {
    let fixture: GitFixture;
    let step = -1;
    let branch = '-';
    const calls: TeaCall[] = [];
    const between = createServer((incoming, outgoing) => {
      const parts: Buffer[] = [];
      incoming.on('data', (part: Buffer) => parts.push(part));
      incoming.on('end', () => {
        const body = Buffer.concat(parts);
        const { url = '', method = '', headers } = incoming;
        const forwarded = ask(
          fixture.url + url,
          { method, headers: { ...headers, host: new URL(fixture.url).host } },
          (reply) => {
            calls.push({
              step,
              method,
              path: url.replaceAll(branch, 'BRANCH'),
              type: headers['content-type'],
              body: body.toString(),
              status: reply.statusCode ?? 0,
            });
            outgoing.writeHead(reply.statusCode ?? 500, reply.headers);
            reply.pipe(outgoing);
          },
        );
        forwarded.end(body);
      });
    });
    const tea = (...args: readonly string[]) =>
      fixture.run(binary, args, { environment: { XDG_CONFIG_HOME: fixture.folder, NO_COLOR: '1' }, mayFail: true });

    beforeAll(async () => {
      fixture = await openGitFixture();
      const { ada, bob } = await openWalk(fixture);
      between.listen(0, '127.0.0.1');
      await once(between, 'listening');
      const url = record === undefined ? fixture.url : `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
      for (const [name, token] of [
        ['bob', bob],
        ['ada', ada],
      ] as const) {
        const added = await tea('logins', 'add', '--name', name, '--url', url, '--token', token);
        expect([added.code, added.stderr]).toEqual([0, '']);
      }
    });
    afterAll(async () => {
      if (record !== undefined) writeFileSync(record, JSON.stringify(calls, null, 1));
      between.close();
      await fixture[Symbol.asyncDispose]();
    });

    it.each(teaWalk.map((entry, index) => [entry.args.join(' '), entry, index] as const))(
      '%s',
      async (_name, entry, index) => {
        if (entry.needsBranch === true) branch = await pushBranch(fixture);
        step = index;
        const { code, stdout, stderr } = await tea(...entry.args, '--login', entry.asBob === true ? 'bob' : 'ada');
        expect([code, stderr, stdout]).toEqual([0, expect.any(String), expect.any(String)]);
        for (const text of entry.output) expect(stdout.replaceAll(/ +/g, ' ')).toMatch(text);
      },
    );
  });
}
