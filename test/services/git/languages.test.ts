import * as gitTexts from '#messages/git-texts';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { withLanguage } from '../../../messages/language.ts';
import { loadLanguage } from '../../../messages/runtime.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

beforeAll(async () => {
  for (const language of ['de', 'fr', 'es']) await loadLanguage(language);
});

async function read(fixture: GitFixture, path: string, language: string): Promise<any> {
  const headers = { authorization: adminAuthorization, 'accept-language': language };
  return (await fetch(`${fixture.host.url('control')}${path}`, { headers })).json();
}

describe('a refused webhook', () => {
  it('is logged in English and shown in the language of each reader', async () => {
    const receiver = createServer((_request, response) => response.writeHead(410).end());
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    await using fixture = await openGitFixture({ environment: { HOMEPORT_LANGUAGE: 'de' } });
    await fixture.create('demo', { auto_init: true });
    const url = `http://127.0.0.1:${String((receiver.address() as AddressInfo).port)}/hook`;
    const hook = { type: 'gitea', active: true, config: { url, content_type: 'json' } };
    const { id } = (await (await fixture.api('POST', '/repos/ada/demo/hooks', hook)).json()) as { id: number };
    await fixture.api('POST', `/repos/ada/demo/hooks/${String(id)}/tests`);
    const path = `/api/git/repositories/ada/demo/hooks/${String(id)}/deliveries`;
    for (const language of ['de', 'fr', 'en']) {
      await vi.waitFor(
        async () => {
          const { deliveries } = await read(fixture, path, language);
          expect(deliveries[0]?.error).toBe(withLanguage(language, () => gitTexts.hookResponded({ status: '410' })));
        },
        { timeout: 20_000 },
      );
    }
    await vi.waitFor(() => expect(fixture.host.log.join('')).toContain('git.hook_refused'), { timeout: 20_000 });
    const german = withLanguage('de', () => gitTexts.hookResponded({ status: '410' }));
    expect(fixture.host.log.join('')).not.toContain(german);
    receiver.close();
    receiver.closeAllConnections();
  });
});

describe('the public pages of a repository', () => {
  it('names the state of issues and pull requests with the gender of each noun', async () => {
    await using fixture = await openGitFixture();
    await fixture.create('demo', { auto_init: true });
    await fixture.api('POST', '/repos/ada/demo/issues', { title: 'An issue' });
    await fixture.api('POST', '/repos/ada/demo/contents/new.txt', {
      ...{ content: 'eA==', message: 'Add', branch: 'main', new_branch: 'topic' },
    });
    const pull = { title: 'A pull request', head: 'topic', base: 'main' };
    expect((await fixture.api('POST', '/repos/ada/demo/pulls', pull)).status).toBe(201);
    const open = async (path: string): Promise<string> => {
      const headers = { accept: 'text/html', 'accept-language': 'fr' };
      return (await fetch(`${fixture.url}/ada/demo/${path}`, { headers })).text();
    };
    expect(withLanguage('fr', gitTexts.issueOpen)).not.toBe(withLanguage('fr', gitTexts.pullOpen));
    expect(await open('issues/1')).toContain(`>${withLanguage('fr', gitTexts.issueOpen)}<`);
    expect(await open('pulls/2')).toContain(`>${withLanguage('fr', gitTexts.pullOpen)}<`);
    expect(await open('issues')).toContain(`>${withLanguage('fr', gitTexts.closedIssues)}<`);
    expect(await open('pulls')).toContain(`>${withLanguage('fr', gitTexts.closedPulls)}<`);
  });
});
