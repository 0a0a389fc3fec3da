import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openGitFixture } from './git-fixture.ts';
import { describeTeaCommand, type TeaCall } from './tea-command.ts';
import { openWalk, pushBranch, teaWalk } from './tea-walk.ts';

const binary = process.env['HOMEPORT_TEA_BINARY'];
if (binary !== undefined) describeTeaCommand(binary, process.env['HOMEPORT_TEA_RECORD']);

it('answers the recorded requests of tea 0.11 as recorded', async () => {
  const calls = JSON.parse(readFileSync(new URL('golden/tea.json', import.meta.url), 'utf8')) as TeaCall[];
  expect(new Set(calls.map(({ step }) => step)).size).toBeGreaterThan(teaWalk.length - 3);
  await using fixture = await openGitFixture();
  const tokens = await openWalk(fixture);
  let branch = '';
  for (const { body, method, path, status, step, type } of calls) {
    if (teaWalk[step]?.needsBranch === true && branch === '') branch = await pushBranch(fixture);
    const token = teaWalk[step]?.asBob === true ? tokens.bob : tokens.ada;
    const reply = await fetch(fixture.url + path.replaceAll('BRANCH', branch), {
      method,
      headers: { authorization: `token ${token}`, ...(type === undefined ? {} : { 'content-type': type }) },
      ...(body === '' ? {} : { body }),
    });
    const text = await reply.text();
    expect([teaWalk[step]?.args.join(' '), method, path, reply.status, text]).toEqual([
      teaWalk[step]?.args.join(' '),
      method,
      path,
      status,
      expect.any(String),
    ]);
  }
  // The issue is unchanged after it was closed and reopened.
  const pull: unknown = await (await fixture.api('GET', '/repos/ada/lamp/pulls/3')).json();
  expect(pull).toMatchObject({
    merged: true,
    milestone: { title: 'Winter' },
    assignees: [{ login: 'bob' }],
    labels: [{ name: 'enhancement' }],
  });
});
