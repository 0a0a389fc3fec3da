import * as gitProblems from '#messages/git-problems';
import * as gitMessages from '#messages/git';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inbox } from '../../services/inbox/index.ts';
import { openGitFixture, type GitFixture } from '../services/git/git-fixture.ts';
import { makeKey } from '../services/git/ssh-key.ts';
import { noBrowser, openPage, signIn, getBrowser } from '../support/browser.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';

describe.skipIf(noBrowser)('repository settings page', () => {
  let fixture: GitFixture;
  let received = 0;
  const receiver = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      received += 1;
      response.end('heard it');
    });
  });
  beforeAll(async () => {
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    fixture = await openGitFixture({ services: [inbox] });
    await fixture.account('bob');
    await fixture.create('lamp', { auto_init: true, private: true });
  });
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]();
    receiver.close();
  });

  const visit = async (options = {}) => {
    const browserPage = await openPage(await getBrowser(), options);
    await signIn(browserPage.page.context(), fixture.host.url('control'));
    await browserPage.page.goto(`${fixture.host.url('control')}/git/repositories/ada~lamp?show=settings`);
    return browserPage;
  };
  const json = async (path: string): Promise<any> => (await fixture.api('GET', path)).json();

  it('adds collaborators, protected branches and deploy keys', async () => {
    await using browserPage = await visit();
    const { page } = browserPage;
    await page.getByRole('switch', { name: gitMessages.privateLabel() }).click();
    await expect.poll(async () => (await json('/repos/ada/lamp')).private).toBe(false);
    await page.getByRole('button', { name: gitMessages.addAPerson() }).click();
    await page.getByLabel(gitMessages.account(), { exact: true }).fill('nobody');
    await page.getByRole('button', { name: gitMessages.add(), exact: true }).click();
    await page.getByText(gitProblems.accountNotFound()).first().waitFor();
    await page.getByLabel(gitMessages.account(), { exact: true }).fill('bob');
    await page.getByRole('button', { name: gitMessages.add(), exact: true }).click();
    await page.getByLabel(gitMessages.whatPersonMayDo({ person: 'bob' })).selectOption('admin');
    await expect
      .poll(async () => (await json('/repos/ada/lamp/collaborators/bob/permission')).permission)
      .toBe('admin');
    await page.getByRole('button', { name: gitMessages.protectABranch() }).click();
    await page.getByLabel(gitMessages.branch(), { exact: true }).fill('main');
    await page.getByLabel(gitMessages.whoMayPushToIt()).selectOption('some');
    await page.getByLabel(gitMessages.accounts()).fill('bob');
    await page.getByRole('button', { name: gitMessages.protect(), exact: true }).click();
    await page.getByText('bob can push to it, but not force-push').waitFor();
    expect(await json('/repos/ada/lamp/branch_protections/main')).toMatchObject({ push_whitelist_usernames: ['bob'] });
    const key = await makeKey(fixture, 'id_robot');
    await page.getByRole('button', { name: gitMessages.addADeployKey() }).click();
    await page.getByLabel(gitMessages.publicKey()).fill(key.text);
    await page.getByRole('button', { name: gitMessages.addTheKey() }).click();
    await page.getByText(`${gitMessages.readOnly()}, ${gitMessages.notUsedYet()}`).waitFor();
  });

  it('renames the repository and redirects its old URL', async () => {
    await fixture.create('lantern', { auto_init: true });
    await using browserPage = await visit();
    const { page } = browserPage;
    const toUrl = (name: string): string => `${fixture.host.url('control')}/git/repositories/ada~${name}?show=settings`;
    await page.goto(toUrl('lantern'));
    await page.getByLabel(gitMessages.name(), { exact: true }).fill('a lantern');
    await page.getByRole('button', { name: gitMessages.rename() }).click();
    await page.getByText(gitProblems.repositoryNameInvalid()).waitFor();
    await page.getByLabel(gitMessages.name(), { exact: true }).fill('beacon');
    await page.getByRole('button', { name: gitMessages.rename() }).click();
    await page.waitForURL(toUrl('beacon'));
    await page.getByRole('heading', { name: 'ada/beacon' }).waitFor();
    await page.goto(toUrl('lantern'));
    await page.waitForURL(toUrl('beacon'));
    await page.getByLabel(gitMessages.name(), { exact: true }).waitFor();
  });

  it('calls a webhook, shows request and response, and sends it again', async () => {
    await using browserPage = await visit();
    const { page } = browserPage;
    await page.getByRole('button', { name: gitMessages.addAWebhook() }).click();
    await page
      .getByLabel(gitMessages.address())
      .fill(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`);
    await page.getByRole('button', { name: gitMessages.add(), exact: true }).click();
    await page.getByRole('button', { name: gitMessages.deliveries() }).click();
    await page.getByText(gitMessages.nothingWasSentYet()).waitFor();
    await page.getByRole('button', { name: gitMessages.sendATest() }).click();
    await page.getByText(gitMessages.taken(), { exact: true }).waitFor();
    await page.getByText(gitMessages.whatWasSentAndAnswered()).click();
    await page.getByText('heard it').waitFor();
    await page.getByText('"ref": "refs/heads/main"').waitFor();
    await page.getByRole('button', { name: gitMessages.sendAgain() }).click();
    await expect.poll(() => received).toBe(2);
    await expect.poll(() => page.getByText(gitMessages.taken(), { exact: true }).count()).toBe(2);
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using browserPage = await visit(screen);
    const { page } = browserPage;
    await page.getByText('127.0.0.1').first().waitFor();
    await expectFits(browserPage, 'git-settings', screen);
    await page.getByRole('button', { name: gitMessages.deliveries() }).click();
    await page.getByText(gitMessages.taken(), { exact: true }).first().waitFor();
    await expectFits(browserPage, 'git-deliveries', screen);
  });
});
