import * as accessMessages from '#messages/access';
import * as dataMessages from '#messages/data';
import * as dataConnectMessages from '#messages/data-connect';
import * as dataPoliciesMessages from '#messages/data-policies';
import * as dataRowsMessages from '#messages/data-rows';
import * as dataSqlMessages from '#messages/data-sql';
import * as dataUsersMessages from '#messages/data-users';
import * as frameMessages from '#messages/frame';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inbox } from '../../services/inbox/index.ts';
import { openDataFixture, type DataFixture } from '../services/data/data-fixture.ts';
import { adminAuthorization } from '../support/host.ts';
import { noBrowser, openPage, signIn, getBrowser } from '../support/browser.ts';
import { anyText, containing, getTagText } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { readSql, writeSql } from './sql-editor.ts';

const ann = '11111111-1111-4111-8111-111111111111';

describe.skipIf(noBrowser)('Data', () => {
  let fixture: DataFixture;
  beforeAll(async () => {
    fixture = await openDataFixture({ services: [inbox], environment: { DATA_JWT_SECRET: '' } });
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const visit = async (path: string, options = {}) => {
    const browserPage = await openPage(await getBrowser(), options);
    await signIn(browserPage.page.context(), fixture.host.url('control'));
    await browserPage.page.goto(`${fixture.host.url('control')}${path}`);
    return browserPage;
  };

  /** Statements of the owner; answers the rows of the last one. */
  const run = async (query: string): Promise<any> => {
    const reply = await fetch(`${fixture.host.url('control')}/api/data/sql`, {
      method: 'POST',
      headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    const answer: any = await reply.json();
    expect(answer.error).toBeNull();
    return answer.results.at(-1).rows;
  };

  it('opens a table with one click, including one named like an SQL keyword', async () => {
    await run(`create table "user" (name text); insert into "user" values ('ada of the lamp'); select 1 as one`);
    await using browserPage = await visit('/data/sql');
    const { page } = browserPage;
    await page.getByRole('button', { name: /^user\b/ }).click();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('cell', { name: 'ada of the lamp' }).waitFor();
    await run('drop table "user"; select 1 as one');
    expect(browserPage.complaints).toEqual([]);
  });

  it('creates a table with a statement, protects it, and explains the rows a user can read', async () => {
    await using browserPage = await visit('/data/sql');
    const { page } = browserPage;
    const text =
      'create table notes (id int primary key, owner uuid, body text); insert into notes values (1, ' +
      `'${ann}', 'mine'), (2, null, 'of nobody'); select body from notes order by id`;
    await writeSql(page, text);
    await page.getByRole('button', { name: dataSqlMessages.run(), exact: true }).click();
    await page.getByRole('cell', { name: 'of nobody' }).waitFor();
    await writeSql(page, 'select nonsense');
    await page.getByRole('button', { name: dataSqlMessages.run(), exact: true }).click();
    await page.getByText('42703').waitFor();
    await writeSql(page, "-- a lamp \u{1f4a1}\nselect 'x',\n  brightness from notes");
    await page.getByRole('button', { name: dataSqlMessages.run(), exact: true }).click();
    await page.getByText(dataSqlMessages.lineNumber({ line: '3' })).waitFor();
    expect(await page.locator('mark').textContent()).toBe('brightness');
    await page.getByRole('button', { name: dataSqlMessages.goThere() }).click();
    // Typing replaces the selected word.
    await page.keyboard.type('body');
    expect(await readSql(page)).toBe("-- a lamp \u{1f4a1}\nselect 'x',\n  body from notes");
    await writeSql(page, 'select * from notes where false');
    await page.getByRole('button', { name: dataSqlMessages.run(), exact: true }).click();
    await page.getByText(dataSqlMessages.noRowInResult({ columns: 'id, owner, body' })).waitFor();
    await writeSql(page, `select n as id, 'a, "b"' as word, null as none from generate_series(1, 1200) n`);
    await page.getByRole('button', { name: dataSqlMessages.run(), exact: true }).click();
    await page.getByText(/^1,200 rows in .* s\. Showing the first 1,000\.$/).waitFor();
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: dataRowsMessages.downloadCSV() }).click();
    const saved = readFileSync(await (await saving).path(), 'utf8');
    expect(saved.slice(0, 100)).toMatch(/^id,word,none\r\n1,"a, ""b""",\r\n2,/);
    const height =
      (await page.getByRole('region', { name: dataSqlMessages.rowsOfTheAnswer() }).boundingBox())?.height ?? 9999;
    expect(height).toBeLessThan(page.viewportSize()?.height ?? 0);
    await page.getByRole('radio', { name: dataSqlMessages.recent() }).check({ force: true });
    await page.getByRole('button', { name: /^create table notes/ }).click();
    expect(await readSql(page)).toBe(text);

    await page.goto(`${fixture.host.url('control')}/data`);
    await page.getByText(containing(dataMessages.tableIsOpen({ name: anyText }))).waitFor();
    await page.getByRole('list', { name: dataMessages.theLargestTables() }).getByText('notes').waitFor();
    await page.getByRole('alert').getByRole('link', { name: /notes/ }).click();
    await page.getByText(dataConnectMessages.rowPoliciesAreOffWhoever()).waitFor();
    await page.getByRole('button', { name: dataConnectMessages.switchThemOn() }).click();
    await page.getByText(dataConnectMessages.noPoliciesNoRows()).waitFor();
    await page.getByRole('button', { name: dataConnectMessages.addAPolicy() }).click();
    const condition = page.getByLabel(dataPoliciesMessages.using(), { exact: true });
    await expect.poll(() => condition.inputValue()).toBe('"owner" = (select auth.uid())');
    await page.getByRole('button', { name: dataPoliciesMessages.createPolicy() }).click();
    await page
      .getByText(
        dataConnectMessages.mayUseRowsTwice({
          command: 'ALL',
          roles: dataConnectMessages.role({ role: 'authenticated' }),
        }),
      )
      .waitFor();
    await page.getByText(dataConnectMessages.rowPoliciesAreOffWhoever()).waitFor({ state: 'detached' });
    const seenBy = page.getByLabel(dataUsersMessages.user(), { exact: true });
    await seenBy.fill(ann);
    await page.getByRole('button', { name: dataConnectMessages.countTheirRows() }).click();
    await page.getByText(dataConnectMessages.rowsSeen({ visible: '1', total: 2, reason: 'policies' })).waitFor();
    await page.getByText('allows 1 row', { exact: false }).waitFor();
    await fetch(`${fixture.host.url('control')}/api/data/users`, {
      method: 'POST',
      headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'bob@example.org', password: 'harbour-lamp-42' }),
    });
    await seenBy.fill('Bob@example.org');
    await page.getByRole('button', { name: dataConnectMessages.countTheirRows() }).click();
    await page.getByText(dataConnectMessages.rowsSeen({ visible: '0', total: 2, reason: 'policies' })).waitFor();
    await seenBy.fill('bo@example.org');
    await page.getByRole('button', { name: dataConnectMessages.countTheirRows() }).click();
    await page.getByText(dataUsersMessages.noUserHasTheAddress({ text: 'bo@example.org' })).waitFor();
  });

  it('cancels running statements on the server by button, by key and by leaving the page', async () => {
    await using browserPage = await visit('/data/sql');
    const { page } = browserPage;
    // The owner cannot see queries of other roles, but can see their locks.
    const readOverview = (): Promise<any> =>
      run("select count(*) from pg_locks where locktype = 'advisory' and objid = 3600 and granted");
    const begin = async (): Promise<void> => {
      await writeSql(page, 'select pg_advisory_xact_lock(3600); select pg_sleep(3600)');
      await page.keyboard.press('Control+Enter');
      await page.getByText(dataSqlMessages.runningStatements()).waitFor();
      await expect.poll(readOverview).toEqual([['1']]);
    };
    for (const role of ['owner', 'authenticated']) {
      await page.getByLabel(dataSqlMessages.runAs(), { exact: true }).selectOption(role);
      await begin();
      await page.getByRole('button', { name: dataSqlMessages.cancel(), exact: true }).click();
      await page.getByText('canceling statement due to user request').waitFor();
      expect(await readOverview()).toEqual([['0']]);
      expect(
        await page
          .getByRole('button', { name: dataSqlMessages.run(), exact: true })
          .evaluate((button) => button === document.activeElement),
      ).toBe(true);
      await writeSql(page, 'select 41 + 1');
      await page.keyboard.press('Control+Enter');
      await page.getByRole('cell', { name: '42' }).waitFor();
    }
    await page.getByLabel(dataSqlMessages.runAs(), { exact: true }).selectOption('owner');
    await begin();
    await page.keyboard.press('Escape');
    await page.getByText(containing(getTagText(dataSqlMessages.cancelledAfter({ time: anyText }), 'strong'))).waitFor();
    await begin();
    await page.getByRole('tab', { name: dataMessages.history() }).click();
    await page.getByText(dataSqlMessages.theStatementsThatRanWere()).waitFor();
    await expect.poll(readOverview).toEqual([['0']]);
    await page.getByText(dataSqlMessages.cancelled(), { exact: true }).first().waitFor();

    const expectRemoved = async (): Promise<void> => {
      const startedAt = performance.now();
      await expect.poll(readOverview).toEqual([['0']]);
      // Without a message from the page the server takes half a minute to detect its absence.
      expect(performance.now() - startedAt).toBeLessThan(25_000);
    };
    await page.getByRole('tab', { name: dataMessages.sql() }).click();
    await begin();
    await page.goto('about:blank');
    await expectRemoved();
    await page.goto(`${fixture.host.url('control')}/data/sql`);
    await begin();
    await page.getByRole('button', { name: containing(frameMessages.signedInAsName({ name: anyText })) }).click();
    await page.getByRole('menuitem', { name: frameMessages.signOut() }).click();
    await page.getByRole('button', { name: accessMessages.signIn() }).waitFor();
    await expectRemoved();
  });

  it('reveals the secret key on request, and rotates it', async () => {
    await using browserPage = await visit('/data/connect');
    const { page } = browserPage;
    await page.getByText('createClient').first().waitFor();
    expect(await page.content()).not.toContain('sb_secret_');
    await page.getByRole('button', { name: dataConnectMessages.showTheKeys() }).click();
    const secret = page.locator('code').filter({ hasText: /^sb_secret_/ });
    const before = (await secret.textContent()) ?? '';
    await page.getByRole('button', { name: dataConnectMessages.replace() }).last().click();
    await page.getByRole('button', { name: dataConnectMessages.replaceItProgramsWithIt() }).click();
    await expect.poll(() => secret.textContent()).not.toBe(before);
    const reply = await fixture.request('/pg/types', { headers: { apikey: (await secret.textContent()) ?? '' } });
    expect(reply.status).toBe(200);
  });

  it('supports buttons, imports and table search on a phone', async () => {
    const tables = Array.from(
      { length: 12 },
      (_, index) => `create table shelf_${String(index)} (id int primary key, owner uuid)`,
    );
    await run(`${tables.join('; ')}; alter table shelf_1 enable row level security; select 1 as one`);
    await using browserPage = await visit('/data/tables/public.shelf_1/?view=policies', {
      width: 360,
      height: 740,
      touch: true,
    });
    const { page } = browserPage;
    await page.getByRole('button', { name: dataConnectMessages.addAPolicy() }).waitFor();
    const cut = await page
      .getByRole('main')
      .getByRole('button')
      .evaluateAll((buttons) =>
        buttons
          .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
          .map(({ textContent }) => textContent),
      );
    expect(cut).toEqual([]);

    await page.goto(`${fixture.host.url('control')}/data/tables`);
    await page.getByRole('searchbox', { name: dataMessages.searchTheTables() }).fill('shelf_11');
    await page.getByRole('link', { name: 'shelf_10' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('link', { name: /^shelf_/ }).count()).toBe(1);

    await page.getByRole('button', { name: dataMessages.otherWaysToATable() }).click();
    await page.getByRole('menuitem', { name: dataMessages.tableFromCSV() }).click();
    const buffer = Buffer.from('name,tons\nGorch Fock and another ship with a longer name,1760\n');
    await page
      .getByLabel(dataRowsMessages.chooseAFile())
      .setInputFiles({ name: 'ships.csv', mimeType: 'text/csv', buffer });
    const type = page.getByLabel(dataRowsMessages.typeOfColumn({ column: 'tons' }));
    await type.waitFor();
    const frame = await page.getByRole('list', { name: dataRowsMessages.columnsOfTheFile() }).boundingBox();
    const box = await type.boundingBox();
    expect((box?.x ?? 999) + (box?.width ?? 0)).toBeLessThanOrEqual((frame?.x ?? 0) + (frame?.width ?? 0));
    expect(await type.inputValue()).toBe('bigint');
  });

  it('adds a row, reports an invalid value, changes the row, and deletes it', async () => {
    await run(
      "create type mood as enum ('sad', 'glad'); create table edited (id bigint generated always as " +
        'identity primary key, title text not null, n int, meta jsonb, mood mood, done boolean not null ' +
        'default false)',
    );
    await using browserPage = await visit('/data/tables/public.edited/');
    const { page } = browserPage;
    await page.getByText(dataRowsMessages.noRowsYet()).waitFor();
    await page.getByRole('button', { name: dataRowsMessages.addARow() }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('title', { exact: true }).fill('A note');
    await dialog.getByLabel(dataRowsMessages.whatNameHolds({ name: 'n' })).selectOption('value');
    await dialog.getByLabel('n', { exact: true }).fill('three');
    await dialog.getByRole('button', { name: dataRowsMessages.addTheRow() }).click();
    await dialog.getByText('invalid input syntax for type integer').waitFor();
    await dialog.getByLabel('n', { exact: true }).fill('3');
    await dialog.getByLabel(dataRowsMessages.whatNameHolds({ name: 'meta' })).selectOption('value');
    await dialog.getByLabel('meta', { exact: true }).fill('{"a": [1]}');
    await dialog.getByRole('button', { name: dataRowsMessages.addTheRow() }).click();
    await page.getByText(dataMessages.rowCount({ count: 1 }), { exact: true }).waitFor();
    await page.getByRole('button', { name: dataRowsMessages.openRow({ value: '1' }) }).click();
    await dialog
      .getByLabel(dataRowsMessages.whatNameHolds({ name: 'n' }))
      .selectOption(dataRowsMessages.nullPlaceholder());
    await dialog.getByLabel('done', { exact: true }).selectOption('true');
    await dialog.getByRole('button', { name: dataMessages.save() }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await run('select title, n, meta, done from edited')).toEqual([['A note', null, '{"a": [1]}', 't']]);
    await page.getByLabel(dataRowsMessages.chooseRow({ value: '1' })).check({ force: true });
    await page.getByRole('button', { name: dataRowsMessages.removeRows({ count: 1 }) }).click();
    await page.getByRole('button', { name: dataRowsMessages.removeForGood() }).click();
    await page.getByText(dataRowsMessages.noRowsYet()).waitFor();
  });

  it('clears the selection when the rows change, and reports when no row was deleted', async () => {
    await run("create table harbours (name text primary key); insert into harbours values ('Bergen'), ('Calais')");
    await using browserPage = await visit('/data/tables/public.harbours/');
    const { page } = browserPage;
    await page.getByLabel(dataRowsMessages.chooseRow({ value: '1' })).check({ force: true });
    await page.getByRole('button', { name: dataRowsMessages.removeRows({ count: 1 }) }).waitFor();
    await page.getByRole('button', { name: 'Sort by name' }).click();
    await page.getByRole('button', { name: dataRowsMessages.removeRows({ count: 1 }) }).waitFor({ state: 'detached' });
    await page.getByLabel(dataRowsMessages.chooseRow({ value: '1' })).check({ force: true });
    await run('delete from harbours');
    await page.getByRole('button', { name: dataRowsMessages.removeRows({ count: 1 }) }).click();
    await page.getByRole('button', { name: dataRowsMessages.removeForGood() }).click();
    await page.getByText(dataRowsMessages.nothingWasRemovedItWas()).waitFor();
  });

  it('scrolls a hundred thousand rows and loads only the visible ones', async () => {
    await run(
      `create table many (id int primary key, word text); insert into many select n, 'word ' || n from generate_series(1, 100000) n`,
    );
    await using browserPage = await visit('/data/tables/public.many/');
    const { page } = browserPage;
    await page.getByText('word 1', { exact: true }).waitFor();
    await page.getByText(dataMessages.rowCount({ count: 100000 })).waitFor();
    let read = 0;
    page.on('request', (request) => (read += request.url().includes('/rows?') ? 1 : 0));
    const list = page.getByRole('grid', { name: dataRowsMessages.rowsOfName({ name: 'many' }) });
    await list.evaluate((element) => (element.scrollTop = element.scrollHeight));
    await page.getByText('word 100000', { exact: true }).waitFor();
    await list.evaluate((element) => (element.scrollTop = element.scrollHeight / 2));
    await page.getByText('word 50001', { exact: true }).waitFor();
    expect(read).toBeLessThan(8);
    expect(await list.getByRole('row').count()).toBeLessThan(80);
    await page.getByLabel(dataRowsMessages.columnToFilterBy()).selectOption('word');
    await page.getByLabel(dataRowsMessages.value()).fill('word 777');
    await page.getByRole('button', { name: dataRowsMessages.filter() }).click();
    await page.getByText(dataMessages.rowCount({ count: 111 })).waitFor();
    await page.getByRole('button', { name: 'Sort by id' }).click();
    await page.getByRole('button', { name: 'Sort by id' }).click();
    await page.getByText('word 77799', { exact: true }).waitFor();
  });

  it('creates a table from a file and imports another file into it', async () => {
    await run('create table if not exists keyless (a int, b text)');
    await using browserPage = await visit('/data/tables');
    const { page } = browserPage;
    await page.getByRole('button', { name: dataMessages.otherWaysToATable() }).click();
    await page.getByRole('menuitem', { name: dataMessages.tableFromCSV() }).click();
    const dialog = page.getByRole('dialog');
    const choose = (text: string) =>
      dialog
        .locator('input[type=file]')
        .setInputFiles({ name: 'Club members.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
    await choose('name,joined,fee\nAnn,2024-01-31,12.50\nBen,2024-02-01,3\n');
    await dialog.getByText('2024-01-31, 2024-02-01').waitFor();
    expect(await dialog.getByLabel(dataRowsMessages.typeOfColumn({ column: 'joined' })).inputValue()).toBe('date');
    expect(await dialog.getByLabel(dataRowsMessages.nameOfTheTable()).inputValue()).toBe('club_members');
    await dialog.getByRole('button', { name: dataRowsMessages.importRows({ count: 2 }) }).click();
    await page.getByRole('heading', { name: 'club_members' }).waitFor();
    await page.getByText(dataMessages.rowCount({ count: 2 }), { exact: true }).waitFor();
    const fromMenu = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: dataRowsMessages.moreForTheRows() }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    await fromMenu(dataRowsMessages.importCSV());
    await choose('Name,other\nCid,x\n');
    await dialog.getByLabel(dataRowsMessages.whereColumnGoes({ column: 'Name' })).waitFor();
    expect(await dialog.getByLabel(dataRowsMessages.whereColumnGoes({ column: 'Name' })).inputValue()).toBe('name');
    await dialog.getByRole('button', { name: dataRowsMessages.importRows({ count: 1 }) }).click();
    await page.getByText(dataMessages.rowCount({ count: 3 }), { exact: true }).waitFor();
    const saving = page.waitForEvent('download');
    await fromMenu(dataRowsMessages.downloadCSV());
    const saved = await saving;
    expect(saved.suggestedFilename()).toBe('club_members.csv');
    expect(readFileSync(await saved.path(), 'utf8')).toContain('2,Ben,2024-02-01,3\n3,Cid,,\n');
  });

  it('shows the status without starting PostgreSQL, and keeps the history', async () => {
    await using quiet = await openDataFixture({ services: [inbox], environment: { DATA_JWT_SECRET: '' } });
    await using browserPage = await openPage(await getBrowser());
    const { page } = browserPage;
    await signIn(page.context(), quiet.host.url('control'));
    await page.goto(`${quiet.host.url('control')}/data`);
    await page.getByText(dataMessages.postgreSQLSleeps()).waitFor();
    // Nor do those that would name a table if they knew one.
    for (const pageName of ['connect', 'sql']) {
      const overviewResponse = page.waitForResponse((answer) => answer.url().endsWith('/api/data/overview'));
      await page.goto(`${quiet.host.url('control')}/data/${pageName}`);
      await (await overviewResponse).finished();
      await page.waitForLoadState('load');
    }
    await page.goto(`${quiet.host.url('control')}/data`);
    await page.getByText(dataMessages.postgreSQLSleeps()).waitFor();
    await page.getByRole('button', { name: dataMessages.lookInside() }).click();
    await page.getByText(dataMessages.beginWithATable()).waitFor();
    await page.goto(`${quiet.host.url('control')}/data/history`);
    await page.getByText(dataSqlMessages.noStatementWasRunFrom()).waitFor();
    await page.getByRole('button', { name: dataMessages.writeSQL() }).click();
    await writeSql(page, 'select 41 + 1 as answer');
    await page.getByRole('button', { name: dataSqlMessages.run(), exact: true }).click();
    await page.getByRole('cell', { name: '42' }).waitFor();
    await page.goto(`${quiet.host.url('control')}/data/history`);
    await page.getByRole('button', { name: /41 \+ 1/ }).click();
    await expect.poll(() => readSql(page)).toBe('select 41 + 1 as answer');
  });

  it.each(screens)('fits on $on', async (screen) => {
    await run(`create table if not exists keyless (a int, b text);
      create table if not exists notes (id int primary key, owner uuid, body text);
      insert into notes values (2, null, 'of nobody') on conflict do nothing; alter table notes enable row level security`);
    await using browserPage = await visit('/data', screen);
    const { page } = browserPage;
    const columns = Array.from(
      { length: 9 },
      (_, index) => `column_${index} text default 'a value of some length'`,
    ).join();
    await run(
      `create table if not exists broad (id int primary key, ${columns}); insert into broad values (100000) on conflict do nothing`,
    );
    const pagePaths = [
      '',
      'tables',
      'tables/public.broad/',
      'sql',
      'history',
      'connect',
      'tables/public.notes/',
      'tables/public.notes/?view=policies',
      'tables/public.notes/?view=columns',
      'tables/public.keyless/',
    ];
    for (const pagePath of pagePaths) {
      await page.goto(`${fixture.host.url('control')}/data/${pagePath}`);
      // A table has the page to itself.
      const name = /^tables\/public\.(\w+)/.exec(pagePath)?.[1] ?? 'Databases';
      await page.getByRole('heading', { level: 1, name }).waitFor();
      if (pagePath.endsWith('policies'))
        await page.getByRole('heading', { name: dataConnectMessages.whoSeesWhat() }).waitFor();
      if (pagePath.endsWith('columns'))
        await page.getByRole('button', { name: dataMessages.changeColumns() }).waitFor();
      if (pagePath.endsWith('broad/')) await page.getByRole('button', { name: /^Sort by column_8/ }).waitFor();
      if (pagePath.endsWith('notes/')) await page.getByText('of nobody').waitFor();
      await expectFits(browserPage, `data-${pagePath.replaceAll(/\W/g, '-') || 'overview'}`, screen);
    }
    await page.goto(`${fixture.host.url('control')}/data/sql`);
    await writeSql(page, 'select * from broad');
    await page.getByRole('button', { name: dataSqlMessages.run(), exact: true }).click();
    // A number is on one line, however many columns there are.
    const cell = page.getByRole('cell', { name: '100000', exact: true });
    expect((await cell.boundingBox())?.height).toBeLessThan(48);
    await expectFits(browserPage, 'data-answer', screen);
    // No completion opens after the editor lost the focus.
    expect(await page.getByRole('listbox').count()).toBe(0);
    await page.goto(`${fixture.host.url('control')}/data/tables/public.notes/`);
    await page.getByRole('gridcell', { name: 'of nobody' }).click({ button: 'right' });
    await page.getByRole('menuitem', { name: dataRowsMessages.openThisRow() }).click();
    await page.getByRole('dialog').getByLabel('body', { exact: true }).waitFor();
    await expectFits(browserPage, 'data-row', screen);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: dataRowsMessages.moreForTheRows() }).click();
    await page.getByRole('menuitem', { name: dataRowsMessages.importCSV() }).click();
    await page
      .getByRole('dialog')
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from('id,body\n3,x\n') });
    await page
      .getByRole('dialog')
      .getByLabel(dataRowsMessages.whereColumnGoes({ column: 'body' }))
      .waitFor();
    await expectFits(browserPage, 'data-import', screen);
  });
});
