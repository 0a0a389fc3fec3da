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
    await page.getByRole('button', { name: 'Add a user' }).click();
    await page.getByLabel('E-mail address').fill('ann@example.com');
    await page.getByRole('button', { name: 'Make the user' }).click();
    await page.getByText('Somebody has this address already.').waitFor();
    await page.getByLabel('E-mail address').fill('ben@example.com');
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Make the user' }).click();
    await page.getByText('4 users').waitFor();
    expect((await fixture.client().auth.signInWithPassword({ email: 'ben@example.com', password })).error).toBeNull();

    await page.getByLabel('Search users').fill('ben');
    await page.getByText('1 user', { exact: true }).waitFor();
    const choose = async (item: string): Promise<void> => {
      await page.getByRole('button', { name: 'More for ben@example.com' }).click();
      await page.getByRole('menuitem', { name: item, exact: true }).click();
    };
    await choose('Make a sign-in link');
    const link = (await page.getByRole('dialog').locator('code').textContent()) ?? '';
    expect((await fetch(link, { redirect: 'manual' })).headers.get('location')).toContain('#access_token=');
    await page.keyboard.press('Escape');
    await choose('Keep out');
    await page.getByText('kept out').waitFor();
    expect((await fixture.client().auth.signInWithPassword({ email: 'ben@example.com', password })).error?.code).toBe(
      'user_banned',
    );
    await choose('Let in again');
    await page.getByText('kept out').waitFor({ state: 'detached' });
    await choose('Remove');
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('button', { name: 'Remove for good?' }).click();
    await page.getByText('Nobody is like that.').waitFor();
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
    await page.getByText('a password, links and codes by mail').waitFor();
    await page.getByRole('term').filter({ hasText: 'likes' }).waitFor();
    await page.getByRole('definition').filter({ hasText: 'tides' }).waitFor();
    const sessions = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem');
    expect(await sessions.count()).toBe(1);
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByRole('button', { name: 'Sign it out?' }).click();
    await page.getByText('Nowhere.').waitFor();
    expect((await client.auth.getUser()).error).not.toBeNull();
    await page.getByRole('button', { name: 'More for cid@example.com' }).click();
    await page.getByRole('menuitem', { name: 'Set a password' }).click();
    await page.getByLabel('New password').fill('another horse 2');
    await page.getByRole('button', { name: 'Set the password' }).click();
    await page.getByText('The password is set.').waitFor();
    expect(
      (await client.auth.signInWithPassword({ email: 'cid@example.com', password: 'another horse 2' })).error,
    ).toBeNull();
    await page.getByRole('button', { name: 'More for cid@example.com' }).click();
    await page.getByRole('menuitem', { name: 'Remove', exact: true }).click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('button', { name: 'Remove for good?' }).click();
    await page.waitForURL(/\/data\/users$/);
    await page.getByText('ann@example.com').waitFor();
    await page.getByLabel('Search users').fill('nobody at all');
    await page.getByText('Nobody is like that.').waitFor();
    await page.getByRole('button', { name: 'Show all users' }).click();
    await page.getByText('ann@example.com').waitFor();
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using browserPage = await visit(screen);
    await expectFits(browserPage, 'data-users', screen);
    const { page } = browserPage;
    await page.getByRole('button', { name: 'More for ann@example.com' }).click();
    await page.getByRole('menuitem', { name: 'Make a sign-in link' }).click();
    await page.getByRole('dialog').locator('code').waitFor();
    await expectFits(browserPage, 'data-users-link', screen);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: /^a-person-with/ }).click();
    await page.getByText('Signs in with').waitFor();
    await expectFits(browserPage, 'data-user', screen);
  });
});
