import * as gitProblems from '#messages/git-problems';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

/** Branches in the app API. */
describe('the branches of a repository', () => {
  let fixture: GitFixture;
  let bob = '';
  beforeAll(async () => {
    fixture = await openGitFixture();
    bob = await fixture.account('bob');
    await fixture.create('fleet', { private: true });
    const cwd = await fixture.work('fleet');
    await fixture.run(
      'sh',
      [
        '-c',
        [
          'for i in 1 2 3; do git commit -q --allow-empty -m "main $i"; done',
          'git branch old main~2',
          'git checkout -q -b topic/sail main~1',
          'git commit -q --allow-empty -m "a sail"',
          'GIT_COMMITTER_DATE=2035-01-01T00:00:00Z git commit -q --allow-empty -m "a larger sail"',
        ].join('; '),
      ],
      { cwd },
    );
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/fleet.git`, '--all'], { cwd });
    await fixture.git(['symbolic-ref', 'HEAD', 'refs/heads/main'], { cwd });
    await fixture.api('PATCH', '/repos/ada/fleet', { default_branch: 'main' });
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const sendRequest = async (
    method: string,
    path = '',
    body?: unknown,
    authorization = adminAuthorization,
    repository = 'fleet',
  ): Promise<any> => {
    const reply = await fetch(`${fixture.host.url('control')}/api/git/repositories/ada/${repository}/branches${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: reply.status, ...((await reply.json()) as object) };
  };
  const names = async (query = ''): Promise<string[]> =>
    (await sendRequest('GET', query)).branches.map(({ name }: { name: string }) => name);

  it('are listed with their last commit and their divergence from the default branch', async () => {
    await fixture.api('POST', '/repos/ada/fleet/branch_protections', { rule_name: 'o*' });
    await fixture.api('POST', '/repos/ada/fleet/pulls', { title: 'Sails', head: 'topic/sail', base: 'main' });
    const { branches, ...rest } = await sendRequest('GET');
    expect(rest).toEqual({ status: 200, total: 3, more: false, mayWrite: true, mayAdminister: true });
    expect(branches).toMatchObject([
      {
        name: 'main',
        isDefault: true,
        rule: null,
        ahead: 0,
        behind: 0,
        pulls: [1],
        commit: { title: 'main 3', author: 'Ann' },
      },
      {
        name: 'topic/sail',
        isDefault: false,
        rule: null,
        ahead: 2,
        behind: 1,
        pulls: [1],
        commit: { title: 'a larger sail' },
      },
      { name: 'old', rule: 'o*', ahead: 0, behind: 2, pulls: [] },
    ]);
    expect(await names('?q=SAIL')).toEqual(['topic/sail']);
    expect(await names('?offset=1')).toEqual(['topic/sail', 'old']);
    // Private repositories are not disclosed.
    expect((await sendRequest('GET', '', undefined, bob)).status).toBe(404);
  });

  it('are created from a branch or a commit, and rejected with a message for invalid names', async () => {
    const { id } = (await (await fixture.api('GET', '/repos/ada/fleet/branches/old')).json()).commit;
    expect((await sendRequest('POST', '', { name: 'topic/oar', from: id })).status).toBe(200);
    expect((await sendRequest('POST', '', { name: 'next', from: 'topic/sail' })).status).toBe(200);
    expect(await (await fixture.api('GET', '/repos/ada/fleet/branches/topic/oar')).json()).toMatchObject({
      commit: { id },
    });
    expect(await sendRequest('GET', '?q=next')).toMatchObject({ branches: [{ ahead: 2, behind: 1 }] });
    for (const [body, fields] of [
      [{ name: 'a..b', from: 'main' }, { name: gitProblems.branchNameInvalid() }],
      [{ name: '-f', from: 'main' }, { name: gitProblems.branchNameInvalid() }],
      [{ name: 'next', from: 'main' }, { name: gitProblems.branchExists() }],
      [{ name: 'next/more', from: 'main' }, { name: gitProblems.nameCollides() }],
      [{ name: 'fresh', from: 'nowhere' }, { from: gitProblems.startNotFound() }],
      [{ name: 'oars', from: 'main' }, { name: gitProblems.branchCreationProtected() }],
    ] as const) {
      expect([body, await sendRequest('POST', '', body)]).toMatchObject([body, { status: 422, error: { fields } }]);
    }
  });

  it('are deleted only at the expected commit, and never if default or protected', async () => {
    await sendRequest('POST', '', { name: 'gone', from: 'main' });
    const tip = async (name: string): Promise<string> => (await sendRequest('GET', `?q=${name}`)).branches[0].commit.id;
    const remove = (name: string, commit: string, account?: string) =>
      sendRequest('DELETE', `?name=${name}&commit=${commit}`, undefined, account);
    const [main, old] = [await tip('main'), await tip('old')];
    expect(await remove('gone', old)).toMatchObject({ status: 409, error: { code: 'git.moved' } });
    expect(await remove('main', main)).toMatchObject({ status: 403 });
    expect(await remove('old', old)).toMatchObject({ status: 403, error: { code: 'git.protected' } });
    // The branch keeps its exact name.
    expect((await remove('gone%C2%A0', main)).status).toBe(404);
    expect((await remove('gone', main)).status).toBe(200);
    expect((await remove('gone', main)).status).toBe(404);
    expect(await names()).not.toContain('gone');
    await fixture.api('PUT', '/repos/ada/fleet/collaborators/bob', { permission: 'read' });
    const [{ mayWrite, mayAdminister }, created] = [
      await sendRequest('GET', '', undefined, bob),
      await sendRequest('POST', '', { name: 'bobs', from: 'main' }, bob),
    ];
    expect([mayWrite, mayAdminister, created.status]).toEqual([false, false, 403]);
    expect((await remove('next', await tip('next'), bob)).status).toBe(403);
    await fixture.api('PATCH', '/repos/ada/fleet', { archived: true });
    expect((await sendRequest('POST', '', { name: 'late', from: 'main' })).status).toBe(423);
    expect((await sendRequest('GET')).mayWrite).toBe(false);
    await fixture.create('bare');
    expect(await sendRequest('GET', '', undefined, undefined, 'bare')).toMatchObject({
      status: 200,
      branches: [],
      total: 0,
    });
  });

  it('are managed by repository administrators who may not delete the repository', async () => {
    const carl = await fixture.account('carl');
    await fixture.create('shared', { auto_init: true });
    await fixture.api('PUT', '/repos/ada/shared/collaborators/carl', { permission: 'admin' });
    const settings = async (authorization: string): Promise<any> => {
      const reply = await fetch(`${fixture.host.url('control')}/api/git/repositories/ada/shared/settings`, {
        headers: { authorization },
      });
      return reply.json();
    };
    expect(await settings(adminAuthorization)).toMatchObject({ branches: ['main'], mayRemove: true });
    expect(await settings(carl)).toMatchObject({ branches: ['main'], mayRemove: false });
  });
});

describe('many diverged branches', () => {
  let fixture: GitFixture;
  let folder = '';
  const log = (): string[] => readFileSync(join(folder, 'log'), 'utf8').trim().split('\n');
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'homeport-git-program-'));
    writeFileSync(join(folder, 'log'), '');
    // Runs git and records how many histories are walked concurrently. The walk to one branch fails.
    const program = join(folder, 'git');
    writeFileSync(
      program,
      `#!/bin/sh
case " $* " in *" --left-right "*) ;; *) exec git "$@" ;; esac
at=0; while [ "$(nice)" -lt 10 ] && [ $at -lt 40 ]; do at=$((at + 1)); sleep 0.05; done
echo "begins $(nice)" >> '${folder}/log'
sleep 0.1
case " $* " in *" $(cat '${folder}/broken') "*) code=128 ;; *) git "$@"; code=$? ;; esac
echo ends >> '${folder}/log'
exit $code
`,
    );
    chmodSync(program, 0o755);
    fixture = await openGitFixture();
    await fixture.create('wide');
    const cwd = await fixture.work('wide');
    await fixture.run(
      'sh',
      ['-c', 'for i in 1 2 3 4 5 6; do git checkout -q -b b$i main; git commit -q --allow-empty -m $i; done'],
      { cwd },
    );
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/wide.git`, '--all'], { cwd });
    await fixture.api('PATCH', '/repos/ada/wide', { default_branch: 'main' });
    const { stdout } = await fixture.git(['rev-parse', 'main', 'b3'], { cwd });
    const [main, broken] = stdout.trim().split('\n');
    writeFileSync(join(folder, 'broken'), `${main}...${broken}`);
    const changed = await fetch(`${fixture.host.url('control')}/api/settings/git`, {
      method: 'PATCH',
      headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
      body: JSON.stringify({ gitPath: program }),
    });
    expect(changed.status).toBe(200);
  });
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are compared two at a time with low priority, and listed if the comparison fails', async () => {
    const reply = await fetch(`${fixture.host.url('control')}/api/git/repositories/ada/wide/branches`, {
      headers: { authorization: adminAuthorization },
    });
    const { branches } = (await reply.json()) as {
      branches: { name: string; ahead: number | null; behind: number | null }[];
    };
    const distances = branches.map(({ name, ahead, behind }) => [name, ahead, behind]).toSorted();
    expect(distances).toEqual([
      ['b1', 1, 0],
      ['b2', 1, 0],
      ['b3', null, null],
      ['b4', 1, 0],
      ['b5', 1, 0],
      ['b6', 1, 0],
      ['main', 0, 0],
    ]);
    const begun = log().filter((line) => line.startsWith('begins'));
    expect(begun).toHaveLength(6);
    expect(begun.every((line) => Number(line.split(' ')[1]) >= 10)).toBe(true);
    let running = 0;
    const atOnce = log().map((line) => (running += line === 'ends' ? -1 : 1));
    expect(Math.max(...atOnce)).toBeLessThanOrEqual(2);
  });
});
