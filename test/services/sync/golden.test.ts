import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { lacksRclone, openSyncFixture, until, type SyncFixture } from './sync-fixture.ts';

interface Recorded {
  readonly name: string;
  readonly request: { method: string; path: string; headers: Record<string, string>; body: unknown };
  readonly response: { status: number; headers: Record<string, string>; body: unknown };
}

const folder = new URL('golden/', import.meta.url);
const recorded = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .sort()
  .map((file) => ({ file, ...(JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Recorded) }));

/** Intended differences from the recorded responses. */
const otherwise: Readonly<Record<string, (body: any, status: number) => void>> = {
  'sync-77-config-dump.json'(body) {
    expect(body).toEqual({
      mem: { type: 'memory' },
      sec: { password: 'XXX', remote: expect.any(String) as string, type: 'crypt' },
    });
  },
  'sync-87-core-command-size.json'(body, status) {
    expect(status).toBe(403);
    expect(body.error).toContain('never done here');
  },
};
/**
 * Exchanges with values of the recorded computer, or with unordered lists. Only the names of their fields are compared.
 */
const membersOnly = new RegExp(
  'version|pid|stats|about|fsinfo|memstats|job-list|group-list|transferred|blocks|job-status|obscure|' +
    'operations-list\\.|operations-stat\\.|paths|operations-size|preview',
);

describe.skipIf(lacksRclone)('the recorded exchanges of rclone rcd', () => {
  let fixture: SyncFixture;
  const jobs = new Map<number, number>();
  const replaceFolder = (value: unknown): any => JSON.parse(JSON.stringify(value).replaceAll('/data', fixture.folder));

  beforeAll(async () => {
    fixture = await openSyncFixture();
    fixture.write({
      'src/f0.txt': 'file 0\n',
      'src/f1.txt': 'file 1\n',
      'src/f2.txt': 'file 2\n',
      'src/sub/deep.bin': 'x'.repeat(3000),
      'dst/f0.txt': 'other\n',
      'dst/extra.txt': 'extra\n',
    });
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  it.each(recorded)('replays $file', async ({ file, request, response }) => {
    if (file.startsWith('sync-55')) {
      writeFileSync(join(fixture.folder, 'src/big.bin'), '');
      truncateSync(join(fixture.folder, 'src/big.bin'), 200 * 1024 * 1024);
    }
    // A job that is stopped before it created its folder leaves nothing to purge.
    if (file.startsWith('sync-58'))
      await until(() => Promise.resolve(existsSync(join(fixture.folder, 'slow'))), Boolean);
    if (file.startsWith('sync-61')) rmSync(join(fixture.folder, 'src/big.bin'));
    if (file.startsWith('sync-71')) {
      writeFileSync(join(fixture.folder, 'src/big.bin'), 'large');
      utimesSync(join(fixture.folder, 'src/big.bin'), 0, 0);
    }
    const input: any = request.body === null ? undefined : replaceFolder(request.body);
    const isText = typeof input === 'string';
    if (!isText && typeof input?.jobid === 'number' && jobs.has(input.jobid)) input.jobid = jobs.get(input.jobid);
    if (!isText && input?.jobid === '32') input.jobid = String(jobs.get(32));
    if (file.includes('transferred-group') || file.includes('stats-group')) {
      await until(
        () => fixture.call('job/status', { jobid: jobs.get(32) }),
        ({ body }) => body.finished === true,
      );
    }
    if (/job-status-(finished|failed|after)/.test(file)) {
      await until(
        () => fixture.call('job/status', input),
        ({ body }) => body.finished === true,
      );
    }
    const reply = await fetch(`${fixture.url}${replaceFolder(request.path) as string}`, {
      method: request.method,
      headers: {
        ...request.headers,
        ...(request.headers['Authorization'] === 'Basic dTpw' ? { Authorization: adminAuthorization } : {}),
      },
      ...(input === undefined ? {} : { body: isText ? input : JSON.stringify(input) }),
    });
    const text = await reply.text();
    const isJson = reply.headers.get('content-type')?.startsWith('application/json') === true;
    const body: any = isJson ? JSON.parse(text) : text;
    const expected: any = replaceFolder(response.body);
    if (typeof expected?.jobid === 'number') jobs.set(expected.jobid, body.jobid);
    const check = otherwise[file];
    if (check !== undefined) return check(body, reply.status);

    expect({ status: reply.status, body }).toMatchObject({ status: response.status });
    for (const name of ['content-type', 'www-authenticate', 'preference-applied']) {
      expect(reply.headers.get(name) ?? undefined, name).toBe(response.headers[name]);
    }
    expect(reply.headers.has('x-rclone-jobid'), 'x-rclone-jobid').toBe('x-rclone-jobid' in response.headers);
    if (typeof expected?.jobid === 'number') {
      expect(body).toEqual({ jobid: expect.any(Number) as number, executeId: expect.any(String) as string });
      expect(reply.headers.get('x-rclone-jobid')).toBe(String(body.jobid));
    } else if (file.startsWith('sync-19') || file.startsWith('sync-36') || file.startsWith('sync-44')) {
      expect(Object.keys(body)).toEqual(expect.arrayContaining(Object.keys(expected)));
    } else if (membersOnly.test(file) && reply.status === 200) {
      expect(Object.keys(body)).toEqual(
        expect.arrayContaining(Object.keys(expected).filter((key) => key !== 'transferring')),
      );
    } else if (file.startsWith('sync-51') || file.startsWith('sync-53')) {
      expect(body.error ?? '').toBe(expected.error ?? '');
    } else if (file.startsWith('sync-85')) {
      expect(body.results.map(({ error, status, path }: any) => ({ error, status, path }))).toEqual(
        expected.results.map(({ error, status, path }: any) => ({ error, status, path })),
      );
      expect(body.results[0]).toEqual({ a: 1 });
    } else if (file.startsWith('sync-71')) {
      expect({ ...body, combined: body.combined.toSorted() }).toEqual(expected);
    } else expect(body === '' && expected === null ? null : body).toEqual(expected);
  });
});
