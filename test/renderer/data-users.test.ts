import * as dataProblemsMessages from '#messages/data-problems';
import * as dataMessages from '#messages/data';
import * as dataUsersMessages from '#messages/data-users';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAuthFixture, type AuthFixture } from '../services/data/auth-fixture.ts';
import { noBrowser, openPage, signIn, getBrowser } from '../support/browser.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';

const password = 'correct horse 1';

describe.skipIf(noBrowser)('Data: app users', () => {
  let fixture: AuthFixture;
  beforeAll(async () => {
    fixture = await openAuthFixture({ environment: { DATA_ANONYMOUS_SIGN_INS: 'true' } });
    await fixture.client().auth.signUp({ email: 'ann@example.com', password });
    await fixture.client().auth.signInAnonymously();
    const admin = fixture.client({ key: fixture.serviceKey }).auth.admin;
    await admin.createUser({ email: 'a-person-with-quite-a-long-name@department.example.com', password });
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const visit = async (options = {}) => {
    const browserPage = await openPage(await getBrowser(), options);
    await signIn(browserPage.page.context(), fixture.host.url('control'));
    await browserPage.page.goto(`${fixture.host.url('control')}/data/users`);
    await browserPage.page.getByText('ann@example.com').waitFor();
    return browserPage;
  };

  it('adds, finds, bans, unbans and deletes a user, and creates a link', async () => {
    await using browserPage = await visit();
    const { page } = browserPage;
    await page.getByRole('button', { name: dataMessages.addAUser() }).click();
    await page.getByLabel(dataUsersMessages.emailAddress()).fill('ann@example.com');
    await page.getByRole('button', { name: dataUsersMessages.makeTheUser() }).click();
    await page.getByText(dataProblemsMessages.emailExists()).waitFor();
    await page.getByLabel(dataUsersMessages.emailAddress()).fill('ben@example.com');
    await page.getByLabel(dataUsersMessages.password()).fill(password);
    await page.getByRole('button', { name: dataUsersMessages.makeTheUser() }).click();
    await page.getByText(dataUsersMessages.userCount({ count: 4 })).waitFor();
    expect((await fixture.client().auth.signInWithPassword({ email: 'ben@example.com', password })).error).toBeNull();

    await page.getByLabel(dataUsersMessages.searchUsers()).fill('ben');
    await page.getByText(dataUsersMessages.userCount({ count: 1 }), { exact: true }).waitFor();
    const choose = async (item: string): Promise<void> => {
      await page.getByRole('button', { name: dataUsersMessages.moreForUser({ user: 'ben@example.com' }) }).click();
      await page.getByRole('menuitem', { name: item, exact: true }).click();
    };
    await choose(dataUsersMessages.makeASignInLink());
    const link = (await page.getByRole('dialog').locator('code').textContent()) ?? '';
    expect((await fetch(link, { redirect: 'manual' })).headers.get('location')).toContain('#access_token=');
    await page.keyboard.press('Escape');
    await choose(dataUsersMessages.keepOut());
    await page.getByText(dataUsersMessages.keptOut()).waitFor();
    expect((await fixture.client().auth.signInWithPassword({ email: 'ben@example.com', password })).error?.code).toBe(
      'user_banned',
    );
    await choose(dataUsersMessages.letInAgain());
    await page.getByText(dataUsersMessages.keptOut()).waitFor({ state: 'detached' });
    await choose(dataUsersMessages.remove());
    await page.getByRole('button', { name: dataUsersMessages.remove(), exact: true }).click();
    await page.getByRole('button', { name: dataUsersMessages.removeForGood() }).click();
    await page.getByText(dataUsersMessages.nobodyIsLikeThat()).waitFor();
  });

  it('shows the sign-in methods and sessions of a user, and ends a session', async () => {
    const client = fixture.client();
    await client.auth.signUp({
      email: 'cid@example.com',
      password,
      options: { data: { full_name: 'Cid', likes: 'tides' } },
    });
    await using browserPage = await visit();
    const { page } = browserPage;
    await page.getByRole('link', { name: /cid@example\.com.* 1 session/ }).click();
    await page.getByRole('heading', { name: 'cid@example.com' }).waitFor();
    await page.getByText(`${dataUsersMessages.aPassword()}, ${dataUsersMessages.linksAndCodesByMail()}`).waitFor();
    await page.getByRole('term').filter({ hasText: 'likes' }).waitFor();
    await page.getByRole('definition').filter({ hasText: 'tides' }).waitFor();
    const sessions = page.getByRole('list', { name: dataMessages.sessions() }).getByRole('listitem');
    expect(await sessions.count()).toBe(1);
    await page.getByRole('button', { name: dataUsersMessages.signOut(), exact: true }).click();
    await page.getByRole('button', { name: dataUsersMessages.signItOut() }).click();
    await page.getByText(dataUsersMessages.nowhere()).waitFor();
    expect((await client.auth.getUser()).error).not.toBeNull();
    await page.getByRole('button', { name: dataUsersMessages.moreForUser({ user: 'cid@example.com' }) }).click();
    await page.getByRole('menuitem', { name: dataUsersMessages.setAPassword() }).click();
    await page.getByLabel(dataUsersMessages.newPassword()).fill('another horse 2');
    await page.getByRole('button', { name: dataUsersMessages.setThePassword() }).click();
    await page.getByText(dataUsersMessages.thePasswordIsSetAll()).waitFor();
    expect(
      (await client.auth.signInWithPassword({ email: 'cid@example.com', password: 'another horse 2' })).error,
    ).toBeNull();
    await page.getByRole('button', { name: dataUsersMessages.moreForUser({ user: 'cid@example.com' }) }).click();
    await page.getByRole('menuitem', { name: dataUsersMessages.remove(), exact: true }).click();
    await page.getByRole('button', { name: dataUsersMessages.remove(), exact: true }).click();
    await page.getByRole('button', { name: dataUsersMessages.removeForGood() }).click();
    await page.waitForURL(/\/data\/users$/);
    await page.getByText('ann@example.com').waitFor();
    await page.getByLabel(dataUsersMessages.searchUsers()).fill('nobody at all');
    await page.getByText(dataUsersMessages.nobodyIsLikeThat()).waitFor();
    await page.getByRole('button', { name: dataUsersMessages.showAllUsers() }).click();
    await page.getByText('ann@example.com').waitFor();
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using browserPage = await visit(screen);
    await expectFits(browserPage, 'data-users', screen);
    const { page } = browserPage;
    await page.getByRole('button', { name: dataUsersMessages.moreForUser({ user: 'ann@example.com' }) }).click();
    await page.getByRole('menuitem', { name: dataUsersMessages.makeASignInLink() }).click();
    await page.getByRole('dialog').locator('code').waitFor();
    await expectFits(browserPage, 'data-users-link', screen);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: /^a-person-with/ }).click();
    await page.getByText(dataUsersMessages.signsInWith()).waitFor();
    await expectFits(browserPage, 'data-user', screen);
  });
});
