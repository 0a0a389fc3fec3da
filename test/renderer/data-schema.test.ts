import * as connectMessages from '#messages/data-connect';
import * as dataMessages from '#messages/data';
import * as apiDocsMessages from '#messages/data-api-docs';
import * as overviewMessages from '#messages/data-overview';
import * as policyMessages from '#messages/data-policies';
import * as schemaMessages from '#messages/data-schema';
import * as partsMessages from '#messages/parts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inbox } from '../../services/inbox/index.ts';
import { openDataFixture, type DataFixture } from '../services/data/data-fixture.ts';
import { noBrowser, openPage, signIn, getBrowser } from '../support/browser.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';

const sampleSchema = `
create table teams (id bigint generated always as identity primary key, name text not null unique);
create table members (team_id bigint references teams, user_id uuid, primary key (team_id, user_id));
create table boats (id bigint generated always as identity primary key, team_id bigint references teams,
  owner uuid, name text not null, length numeric default 5, rigging jsonb);
create table logbook (id bigint generated always as identity primary key, boat bigint references boats, entry text);
create index boats_length on boats (length);
alter table boats enable row level security;
create function touch() returns trigger language plpgsql as $$ begin return new; end $$;
create trigger touch_boats before update on boats for each row execute function touch();
create function count_boats(min_length numeric default 0) returns bigint language sql stable security definer
  as $$ select count(*) from boats where length >= min_length $$;
create view long_boats with (security_invoker) as select id, name from boats where length > 10;
insert into teams (name) values ('Blue');
insert into boats (team_id, name) values (1, 'Lark');`;

/** Tests the pages of schema objects, policies and API examples. */
describe.skipIf(noBrowser)('Data: schema pages', () => {
  let fixture: DataFixture;
  beforeAll(async () => {
    fixture = await openDataFixture({ services: [inbox] });
    await fixture.sql(sampleSchema);
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const visit = async (path: string, options = {}) => {
    const browserPage = await openPage(await getBrowser(), options);
    await signIn(browserPage.page.context(), fixture.host.url('control'));
    await browserPage.page.goto(`${fixture.host.url('control')}/data/${path}`);
    return browserPage;
  };
  const getRow = (page: Page, list: string, name: string) =>
    page.getByRole('list', { name: list, exact: true }).getByRole('listitem').filter({ hasText: name });

  it('creates, edits, deletes and restores a policy, and shows errors at the fields', async () => {
    await using browserPage = await visit('tables/public.boats/?view=policies');
    const { page } = browserPage;
    await page.getByRole('button', { name: connectMessages.addAPolicy() }).click();
    const dialog = page.getByRole('dialog');
    const [using, check] = [policyMessages.using(), policyMessages.withCheck()].map((label) =>
      dialog.getByLabel(label, { exact: true }),
    ) as [ReturnType<typeof dialog.getByLabel>, ReturnType<typeof dialog.getByLabel>];
    await dialog.getByLabel(policyMessages.template()).selectOption(policyMessages.byMembership());
    const members = '"team_id" in (select "team_id" from "public"."members" where "user_id" = (select auth.uid()))';
    await expect.poll(() => using.inputValue()).toBe(members);
    await dialog.getByLabel(policyMessages.template()).selectOption(policyMessages.ownersReadAndChange());
    await expect.poll(() => using.inputValue()).toBe('"owner" = (select auth.uid())');
    await check.fill('"ownr" = (select auth.uid())');
    await dialog.getByRole('button', { name: policyMessages.createPolicy() }).click();
    await dialog.getByText('column "ownr" does not exist', { exact: true }).waitFor();
    expect(await check.getAttribute('aria-invalid')).toBe('true');
    expect(await using.getAttribute('aria-invalid')).toBeNull();
    await check.fill('length < 20 -- metres');
    await dialog.getByText(policyMessages.statement(), { exact: true }).click();
    await dialog.getByText('create policy "Owners" on "public"."boats"').waitFor();
    await dialog.getByRole('button', { name: policyMessages.createPolicy() }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: policyMessages.editNamed({ name: 'Owners' }) }).click();
    expect(await using.inputValue()).toBe('owner = (select auth.uid())');
    await dialog.getByLabel(policyMessages.name(), { exact: true }).fill('New boats');
    await dialog.getByLabel(policyMessages.command()).selectOption(policyMessages.commandInsert());
    await using.waitFor({ state: 'detached' });
    await dialog.getByLabel('anon', { exact: true }).check();
    await dialog.getByRole('radio', { name: policyMessages.restrictive() }).check({ force: true });
    await dialog.getByRole('button', { name: policyMessages.savePolicy() }).click();
    await dialog.waitFor({ state: 'detached' });
    const read = (): Promise<any[]> =>
      fixture.sql(
        `select policyname, permissive, cmd, array_to_string(roles, ',') as roles, with_check from pg_policies`,
      );
    const edited = {
      policyname: 'New boats',
      permissive: 'RESTRICTIVE',
      cmd: 'INSERT',
      roles: 'anon,authenticated',
      with_check: '(length < (20)::numeric)',
    };
    expect(await read()).toEqual([edited]);
    await page.getByRole('button', { name: connectMessages.whoSeesWhat() }).click();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('seen-by');
    await page.getByRole('button', { name: connectMessages.remove(), exact: true }).click();
    await page.getByRole('button', { name: connectMessages.removeIt() }).click();
    await page.getByText(policyMessages.policyDeleted({ name: 'New boats' })).waitFor();
    expect(await read()).toEqual([]);
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await expect.poll(read).toEqual([edited]);
  });

  it('shows the diagram, moves it by keyboard, finds a table and opens it', async () => {
    await using browserPage = await visit('schema');
    const { page } = browserPage;
    const diagram = page.getByRole('group', { name: schemaMessages.diagram() });
    const boats = diagram.getByRole('link', { name: schemaMessages.tableWithColumns({ name: 'boats', count: 6 }) });
    await boats.waitFor();
    expect(await diagram.locator('path.edge').count()).toBe(3);
    const getPosition = async (): Promise<number> => (await boats.boundingBox())?.x ?? 0;
    const before = await getPosition();
    await diagram.focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(getPosition).toBeCloseTo(before - 60, 0);
    const getWidth = async (): Promise<number> => (await boats.boundingBox())?.width ?? 0;
    const width = await getWidth();
    await page.keyboard.press('-');
    await expect.poll(getWidth).toBeLessThan(width);
    await page.keyboard.press('0');
    await page.mouse.move(700, 500);
    await page.mouse.wheel(0, -400);
    await expect.poll(getWidth).toBeGreaterThan(width);
    await page.getByRole('searchbox', { name: schemaMessages.searchTables() }).fill('logbook');
    await page.getByText(schemaMessages.tableMatches({ count: 1 })).waitFor();
    await page.getByText(schemaMessages.relations(), { exact: true }).click();
    await page
      .getByRole('list', { name: schemaMessages.relations() })
      .getByText(schemaMessages.relation({ from: 'logbook (boat)', to: 'boats (id)' }))
      .waitFor();
    await diagram.getByRole('link', { name: /^logbook/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'logbook' }).waitFor();
  });

  it('fits the diagram to the window until it is moved', async () => {
    await using browserPage = await visit('schema');
    const { page } = browserPage;
    const diagram = page.getByRole('group', { name: schemaMessages.diagram() });
    const teams = diagram.getByRole('link', { name: /^teams/ });
    await teams.waitFor();
    const getDistance = async (): Promise<number> => {
      const [frame, table] = [await diagram.boundingBox(), await teams.boundingBox()];
      return frame === null || table === null ? -1 : frame.x + frame.width - table.x - table.width;
    };
    await page.setViewportSize({ width: 768, height: 900 });
    await expect.poll(getDistance).toBeGreaterThanOrEqual(0);
    await diagram.focus();
    await page.keyboard.press('ArrowLeft');
    const moved = await getDistance();
    await page.setViewportSize({ width: 760, height: 900 });
    await expect.poll(getDistance).toBeCloseTo(moved - 8, 0);
  });

  it('creates, finds, deletes and restores an index', async () => {
    await using browserPage = await visit('indexes');
    const { page } = browserPage;
    await getRow(page, schemaMessages.indexes(), 'boats_length').getByText(schemaMessages.unused()).waitFor();
    expect(
      await getRow(page, schemaMessages.indexes(), 'boats_pkey')
        .getByRole('button', { name: schemaMessages.drop() })
        .count(),
    ).toBe(0);
    await page.getByRole('button', { name: schemaMessages.newIndex() }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(schemaMessages.table(), { exact: true }).selectOption('boats');
    await dialog.getByLabel('name', { exact: true }).check();
    await dialog.getByLabel('owner', { exact: true }).check();
    await dialog.getByText(schemaMessages.statement(), { exact: true }).click();
    await dialog.getByText('create index concurrently "boats_name_owner_idx"').waitFor();
    await dialog.getByLabel(schemaMessages.method()).selectOption('gin');
    await dialog.getByRole('button', { name: schemaMessages.createIndex() }).click();
    await dialog
      .getByText('data type text has no default operator class for access method "gin"', { exact: true })
      .waitFor();
    await dialog.getByLabel(schemaMessages.method()).selectOption('btree');
    await dialog.getByRole('button', { name: schemaMessages.createIndex() }).click();
    await dialog.waitFor({ state: 'detached' });
    const created = getRow(page, schemaMessages.indexes(), 'boats_name_owner_idx');
    await created.getByText('boats (name, owner)').waitFor();
    await page.getByRole('searchbox', { name: schemaMessages.searchIndexes() }).fill('name_owner');
    await getRow(page, schemaMessages.indexes(), 'boats_length').waitFor({ state: 'detached' });
    await created.getByRole('button', { name: schemaMessages.drop() }).click();
    await created.getByRole('button', { name: schemaMessages.dropIndexQuestion() }).click();
    await page.getByText(schemaMessages.noMatches()).waitFor();
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await created.waitFor();
  });

  it('disables a trigger, and shows, deletes and restores a function', async () => {
    await using browserPage = await visit('triggers');
    const { page } = browserPage;
    const enabled = page.getByRole('switch', { name: schemaMessages.enabledNamed({ name: 'touch_boats' }) });
    await enabled.click();
    await expect
      .poll(() => fixture.sql(`select tgenabled from pg_trigger where tgname = 'touch_boats'`))
      .toEqual([{ tgenabled: 'D' }]);
    await page.getByRole('link', { name: 'public.touch' }).click();
    await page.getByRole('heading', { level: 1, name: 'touch' }).waitFor();
    await page.getByText('begin return new; end').waitFor();
    await page.getByRole('list', { name: schemaMessages.usedByTriggers() }).getByText('touch_boats').waitFor();
    await page.getByRole('button', { name: schemaMessages.drop(), exact: true }).click();
    await page.getByRole('button', { name: schemaMessages.dropFunctionQuestion() }).click();
    await page.getByText(/cannot drop function public.touch\(\)/).waitFor();

    await page.goto(`${fixture.host.url('control')}/data/functions`);
    await page.getByRole('link', { name: /^count_boats/ }).click();
    await page.getByText(schemaMessages.securityDefinerWarning({ owner: 'postgres' })).waitFor();
    await page.getByRole('button', { name: schemaMessages.drop(), exact: true }).click();
    await page.getByRole('button', { name: schemaMessages.dropFunctionQuestion() }).click();
    await page.getByText(schemaMessages.functionDropped({ name: 'count_boats' })).waitFor();
    await page.getByRole('heading', { level: 1, name: dataMessages.databases() }).waitFor();
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await expect.poll(() => fixture.sql('select count_boats() as boats')).toEqual([{ boats: '1' }]);
    await page.goto(`${fixture.host.url('control')}/data/functions/none()`);
    await page.getByText(schemaMessages.functionNotFound()).waitFor();
  });

  it('enables and disables an extension, and lists roles', async () => {
    await using browserPage = await visit('extensions');
    const { page } = browserPage;
    await page.getByRole('searchbox', { name: schemaMessages.searchExtensions() }).fill('citext');
    const enabled = page.getByRole('switch', { name: schemaMessages.enabledNamed({ name: 'citext' }) });
    await enabled.click();
    await expect.poll(() => enabled.getAttribute('aria-checked')).toBe('true');
    await fixture.sql('create table sailors (name extensions.citext)');
    await page.reload();
    await page.getByText(/column name of table public.sailors/).waitFor();
    expect(await enabled.isDisabled()).toBe(true);
    await fixture.sql('drop table sailors');
    await page.reload();
    await enabled.click();
    await page.getByText(schemaMessages.extensionDisabled({ name: 'citext' })).waitFor();
    await page.goto(`${fixture.host.url('control')}/data/extensions?q=plpgsql`);
    await page.getByText(schemaMessages.needsSuperuser()).waitFor();
    await page.goto(`${fixture.host.url('control')}/data/roles`);
    await getRow(page, schemaMessages.roles(), 'service_role')
      .filter({ has: page.getByText('service_role', { exact: true }) })
      .getByText(schemaMessages.bypassesPolicies())
      .waitFor();
  });

  it('shows API examples with the columns and the key for apps', async () => {
    await using browserPage = await visit('tables/public.boats/?view=api');
    const { page } = browserPage;
    await page.getByText(`.from('boats')`).first().waitFor();
    await page.getByText(`insert({ team_id: 1,`).waitFor();
    await page.getByRole('radio', { name: 'curl' }).check({ force: true });
    await page.getByText(`/rest/v1/boats?select=id,team_id,owner`).waitFor();
    expect(await page.content()).not.toContain('sb_secret_');
    await page.goto(`${fixture.host.url('control')}/data/tables/public.long_boats/?view=api`);
    await page.getByRole('heading', { name: apiDocsMessages.filterRows() }).waitFor();
    expect(await page.getByRole('heading', { name: apiDocsMessages.insertRow() }).count()).toBe(0);
  });

  it('shows the last known state while PostgreSQL is stopped', async () => {
    await using quiet = await openDataFixture({ services: [inbox] });
    await quiet.sql('create table shelves (id int primary key); insert into shelves values (1), (2)');
    await using browserPage = await openPage(await getBrowser());
    const { page } = browserPage;
    await signIn(page.context(), quiet.host.url('control'));
    await page.goto(`${quiet.host.url('control')}/data`);
    await page.getByRole('list', { name: dataMessages.theLargestTables() }).getByText('shelves').waitFor();
    await page.route('**/api/data/overview*', async (route) => {
      const reply = await route.fetch();
      await route.fulfill({ response: reply, json: { ...(await reply.json()), state: 'asleep', inside: null } });
    });
    await page.reload();
    const list = page.getByRole('list', { name: overviewMessages.largestTables() });
    await list.getByText('shelves').waitFor();
    await list.getByText(dataMessages.rowCount({ count: 2 })).waitFor();
    await page.getByText(overviewMessages.lastBackup()).waitFor();
    await page.getByRole('button', { name: dataMessages.lookInside() }).waitFor();
  });

  it('stays usable with 120 tables', async () => {
    await using large = await openDataFixture({ services: [inbox] });
    const tables = Array.from({ length: 120 }, (_, index) => {
      const columns = Array.from({ length: 8 }, (__, column) => `column_${String(column)} text`).join();
      const reference = index === 0 ? '' : `, parent int references table_${String(Math.floor((index - 1) / 2))}`;
      return `create table table_${String(index)} (id int primary key, ${columns}${reference})`;
    });
    await large.sql(tables.join(';'));
    await using browserPage = await openPage(await getBrowser());
    const { page } = browserPage;
    await signIn(page.context(), large.host.url('control'));
    await page.goto(`${large.host.url('control')}/data/schema`);
    const diagram = page.getByRole('group', { name: schemaMessages.diagram() });
    await diagram.getByRole('link', { name: /^table_119,/ }).waitFor();
    await page.getByRole('searchbox', { name: schemaMessages.searchTables() }).fill('table_119');
    const found = diagram.getByRole('link', { name: /^table_119,/ });
    await expect
      .poll(async () => {
        const [box, frame] = [await found.boundingBox(), await diagram.boundingBox()];
        return box !== null && frame !== null && box.x >= frame.x && box.y >= frame.y;
      })
      .toBe(true);
    await found.click();
    await page.getByRole('heading', { level: 1, name: 'table_119' }).waitFor();
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using browserPage = await visit('schema', screen);
    const { page } = browserPage;
    const host = `${fixture.host.url('control')}/data`;
    await page.getByRole('link', { name: /^boats/ }).waitFor();
    await expectFits(browserPage, 'data-schema', screen);
    for (const [section, list] of [
      ['functions', schemaMessages.functions()],
      ['triggers', schemaMessages.triggers()],
      ['indexes', schemaMessages.indexes()],
      ['extensions', schemaMessages.extensions()],
      ['roles', schemaMessages.roles()],
    ] as const) {
      await page.goto(`${host}/${section}`);
      await page.getByRole('list', { name: list, exact: true }).waitFor();
      await expectFits(browserPage, `data-${section}`, screen);
    }
    await page.goto(`${host}/functions/public.touch()/`);
    await page.getByText('begin return new; end').waitFor();
    await expectFits(browserPage, 'data-function', screen);
    await page.goto(`${host}/tables/public.boats/?view=api`);
    await page.getByRole('heading', { name: apiDocsMessages.deleteRow() }).waitFor();
    await expectFits(browserPage, 'data-api', screen);
    await page.goto(`${host}/tables/public.boats/?view=policies`);
    await page.getByRole('button', { name: connectMessages.addAPolicy() }).click();
    await page.getByRole('dialog').getByLabel(policyMessages.template()).waitFor();
    await expectFits(browserPage, 'data-policy', screen);
    await page.goto(`${host}/indexes?add=1`);
    await page.getByRole('dialog').getByLabel('id', { exact: true }).waitFor();
    await expectFits(browserPage, 'data-new-index', screen);
  });
});
