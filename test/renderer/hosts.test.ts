import * as gitProblems from '#messages/git-problems';
import * as m from '#messages/hosts';
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { getBrowser, noBrowser, openPage, signIn } from '../support/browser.ts';
import { openTestHost, type TestHost } from '../support/host.ts';
import { openPostgresDatabase } from '../support/postgres.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';

describe.skipIf(noBrowser)('the Hosts page', () => {
  const open = new AsyncDisposableStack();
  let browser: Browser;
  let url: string;
  let environment: Record<string, string>;
  const built = process.env['HOMEPORT_TEST_PAGES'];
  const pages = built ? { pages: built } : {};
  beforeAll(async () => {
    browser = await getBrowser();
    ({ url } = open.use(await openPostgresDatabase()));
    environment = { HOMEPORT_DATABASE_URL: url, HOMEPORT_VAULT_KEY: randomBytes(32).toString('base64') };
  });
  afterAll(() => open.disposeAsync());

  const visit = async (host: TestHost, options = {}) => {
    const browserPage = await openPage(browser, options);
    await signIn(browserPage.page.context(), host.url('control'));
    await browserPage.page.goto(`${host.url('control')}/settings/hosts`);
    return browserPage;
  };

  it('explains how to run several hosts while there is one', async () => {
    await using host = await openTestHost({ services: [inbox, control], ...pages });
    for (const screen of screens) {
      await using browserPage = await visit(host, screen);
      await browserPage.page.getByRole('heading', { name: m.notShared() }).waitFor();
      await browserPage.page.getByText('HOMEPORT_DATABASE_URL').waitFor();
      await expectFits(browserPage, 'hosts-empty', screen);
    }
  });

  it('lists the hosts with their state, and reports different versions', async () => {
    await using host = await openTestHost({ services: [inbox, control], environment, ...pages });
    await using other = await openTestHost({ services: [inbox, control], environment });
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    open.defer(() => client.end());
    await client.query(`
      insert into host.hosts
      select 'killed-host', 'a-computer-with-a-long-name.example.org', '0.0.9', 0, started_at, seen_at - 60000
      from host.hosts limit 1`);
    const problems = [{ service: 'Code', reason: gitProblems.repositoriesUnavailable() }];
    const update = `update host.hosts set problems = $1 where id = 'killed-host'`;
    await client.query(update, [JSON.stringify(problems)]);
    for (const screen of screens) {
      await using browserPage = await visit(host, screen);
      const { page } = browserPage;
      const rows = page.getByRole('list', { name: m.title() }).getByRole('listitem');
      await rows.filter({ hasText: m.offline() }).waitFor();
      expect(await rows.count()).toBe(3);
      expect(await rows.last().textContent()).toContain(gitProblems.repositoriesUnavailable());
      expect(await rows.filter({ hasText: m.running() }).count()).toBe(2);
      expect(await rows.filter({ hasText: m.thisHost() }).count()).toBe(1);
      expect(await rows.last().textContent(), 'offline hosts are listed last').toContain('long-name');
      expect(await page.getByText(m.versionsDiffer()).count(), 'an offline host has no version to update').toBe(0);
      await expectFits(browserPage, 'hosts', screen);
    }
    await using browserPage = await visit(host);
    const rows = browserPage.page.getByRole('list', { name: m.title() }).getByRole('listitem');
    await rows.first().waitFor();
    await client.query(`update host.hosts set seen_at = seen_at + 600000, draining = 1 where id = 'killed-host'`);
    await rows.filter({ hasText: m.draining() }).waitFor();
    await browserPage.page.getByText(m.versionsDiffer()).waitFor();
    await other[Symbol.asyncDispose]();
    await expect.poll(() => rows.count(), { timeout: 15_000 }).toBe(2);
  });
});
