import * as dataMessages from '#messages/data';
import * as dataConnectMessages from '#messages/data-connect';
import * as dataRowsMessages from '#messages/data-rows';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inbox } from '../../services/inbox/index.ts';
import { openDataFixture, type DataFixture } from '../services/data/data-fixture.ts';
import { adminAuthorization } from '../support/host.ts';
import { noBrowser, openPage, signIn, getBrowser } from '../support/browser.ts';
import { anyText, containing, startingWith } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';

/** Tests tables that are created and changed by a form, and the signing keys. */
describe.skipIf(noBrowser)('Data: table form', () => {
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

  it('creates a table with a key, a default and a reference, changes its columns, and deletes it', async () => {
    await using browserPage = await visit('/data/tables');
    const { page } = browserPage;
    await page.getByRole('button', { name: dataMessages.makeATable() }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(dataMessages.name(), { exact: true }).fill('notes');
    await dialog.getByRole('button', { name: dataMessages.addAColumn() }).click();
    const owner = dialog.getByRole('group', { name: dataMessages.columnAt({ at: '3' }) });
    await owner.getByLabel(dataMessages.column(), { exact: true }).fill('owner');
    const named = dialog.getByRole('group', { name: 'owner' });
    await named.getByLabel(dataMessages.type()).fill('uuid');
    await named.getByLabel(dataMessages.defaultLabel()).fill('auth.uid()');
    await named.getByLabel(dataMessages.refersTo()).selectOption(dataMessages.authUsersWhoSignsIn());
    await named.getByLabel(dataMessages.whenThatRowGoes()).selectOption(dataMessages.onDeleteCascade());
    await dialog.getByRole('button', { name: dataMessages.addAColumn() }).click();
    const last = dialog.getByRole('group', { name: dataMessages.columnAt({ at: '4' }) });
    await last.getByLabel(dataMessages.column(), { exact: true }).fill('the title');
    await dialog.getByRole('group', { name: 'the title' }).getByLabel(dataMessages.required()).check();
    await dialog.getByText(dataMessages.statement(), { exact: true }).click();
    await dialog.getByText('on delete cascade').waitFor();
    await dialog.getByRole('button', { name: dataMessages.makeTheTable() }).click();
    await page.getByRole('heading', { name: 'notes' }).waitFor();
    await page.getByText(dataRowsMessages.noRowsYet()).waitFor();
    const columns =
      `select column_name, data_type, is_nullable, coalesce(column_default, identity_generation, '') ` +
      `from information_schema.columns where table_name = 'notes' order by ordinal_position`;
    expect(await run(columns)).toEqual([
      ['id', 'bigint', 'NO', 'BY DEFAULT'],
      ['created_at', 'timestamp with time zone', 'NO', 'now()'],
      ['owner', 'uuid', 'YES', 'auth.uid()'],
      ['the title', 'text', 'NO', ''],
    ]);
    expect(await run(`select relrowsecurity from pg_class where relname = 'notes'`)).toEqual([['t']]);
    expect(
      await run(
        `select confrelid::regclass, confdeltype from pg_constraint where conrelid = 'notes'::regclass and contype = 'f'`,
      ),
    ).toEqual([['auth.users', 'c']]);
    await run(`insert into notes ("the title") values ('7')`);

    await page.getByRole('link', { name: dataMessages.columns(), exact: true }).click();
    await page.getByRole('button', { name: dataMessages.changeColumns() }).click();
    expect(
      await dialog.getByRole('group', { name: 'owner' }).getByLabel(dataMessages.defaultLabel()).inputValue(),
    ).toBe('auth.uid()');
    await dialog.getByText(dataMessages.statement(), { exact: true }).click();
    await dialog.getByText(dataMessages.nothingIsChangedYet()).waitFor();
    const title = dialog.getByRole('group', { name: 'the title' });
    await title.getByLabel(dataMessages.type()).fill('int');
    await title.getByLabel(dataMessages.defaultLabel()).fill("'no number'");
    await dialog.getByRole('button', { name: dataMessages.save() }).click();
    await dialog.getByText(startingWith(dataMessages.refusal({ message: anyText }))).waitFor();
    await title.getByLabel(dataMessages.defaultLabel()).fill('0');
    await title.getByLabel(dataMessages.required()).uncheck();
    await title.getByLabel(dataMessages.unique()).check();
    await title.getByLabel(dataMessages.column(), { exact: true }).fill('number');
    await dialog
      .getByRole('group', { name: 'owner' })
      .getByLabel(dataMessages.refersTo())
      .selectOption(dataMessages.noOtherTable());
    await dialog.getByRole('button', { name: dataMessages.removeColumn({ column: 'created_at' }) }).click();
    await dialog.getByLabel(dataMessages.name(), { exact: true }).fill('numbers');
    await dialog.getByRole('button', { name: dataMessages.save() }).click();
    await page.getByRole('heading', { name: 'numbers' }).waitFor();
    expect(await run(columns.replace("'notes'", "'numbers'"))).toEqual([
      ['id', 'bigint', 'NO', 'BY DEFAULT'],
      ['owner', 'uuid', 'YES', 'auth.uid()'],
      ['number', 'integer', 'YES', '0'],
    ]);
    expect(
      await run(`select contype from pg_constraint where conrelid = 'numbers'::regclass and contype in ('u', 'f')`),
    ).toEqual([['u']]);
    expect(await run('select number from numbers')).toEqual([['7']]);

    await page.getByRole('link', { name: dataMessages.columns(), exact: true }).click();
    await page.getByRole('button', { name: dataMessages.changeColumns() }).click();
    await dialog.getByRole('button', { name: dataMessages.remove(), exact: true }).click();
    await dialog.getByRole('button', { name: dataMessages.removeTheTableWithAll() }).click();
    await page.getByText(dataMessages.noTablesYet()).waitFor();
    expect(await run(`select to_regclass('numbers')`)).toEqual([[null]]);
  });

  it('creates a table in the selected schema', async () => {
    await using other = await openDataFixture({ settings: { schemas: ['shop', 'crew'] } });
    await other.sql('create schema shop; create schema crew');
    await using browserPage = await openPage(await getBrowser());
    const { page } = browserPage;
    await signIn(page.context(), other.host.url('control'));
    for (const [name, schema] of [
      ['goods', 'shop'],
      ['sailors', 'crew'],
    ] as const) {
      await page.goto(`${other.host.url('control')}/data/tables`);
      await page.getByRole('button', { name: dataMessages.newTable() }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel(dataMessages.name(), { exact: true }).fill(name);
      expect(await dialog.getByLabel(dataMessages.schema()).inputValue()).toBe('shop');
      await dialog.getByLabel(dataMessages.schema()).selectOption(schema);
      await dialog.getByRole('button', { name: dataMessages.makeTheTable() }).click();
      await page.getByRole('heading', { name }).waitFor();
      await expect.poll(() => new URL(page.url()).pathname).toContain(`/${schema}.${name}`);
      expect(await other.sql(`select schemaname from pg_tables where tablename = '${name}'`)).toEqual([
        { schemaname: schema },
      ]);
    }
  });

  it('signs tokens with a key pair, rotates it, and shows how long the earlier keys are valid', async () => {
    await using browserPage = await visit('/data/connect');
    const { page } = browserPage;
    await page.getByText(dataConnectMessages.howTokensAreSignedAnd()).click();
    await page.getByRole('button', { name: dataConnectMessages.signWithAPairOf() }).click();
    await page.getByRole('button', { name: dataConnectMessages.signNewTokensWithA() }).click();
    await page.getByText(containing(dataConnectMessages.signedWithPair({ time: anyText, id: anyText }))).waitFor();
    await page.getByText('/auth/v1/.well-known/jwks.json').waitFor();
    await page.getByText(dataConnectMessages.tokensAfterChange({ minutes: 60 })).waitFor();
    await page.getByRole('button', { name: dataConnectMessages.makeANewPair() }).click();
    await page.getByRole('button', { name: dataConnectMessages.signWithNewPairQuestion() }).click();
    await page.getByText(containing(dataConnectMessages.earlierPair({ id: anyText, time: anyText }))).waitFor();
    await page.getByRole('button', { name: dataConnectMessages.endTheEarlierOnesNow() }).click();
    await page.getByRole('button', { name: dataConnectMessages.refuseTheirTokensFromNow() }).click();
    await page
      .getByText(containing(dataConnectMessages.earlierPair({ id: anyText, time: anyText })))
      .waitFor({ state: 'detached' });
    const { keys }: any = await (await fetch(`${fixture.url}/auth/v1/.well-known/jwks.json`)).json();
    expect(await page.getByText(keys[0].kid).count()).toBe(1);
  });

  it('downloads the types of the tables', async () => {
    await run('create table typed (id int primary key, words text[])');
    await using browserPage = await visit('/data/connect');
    const { page } = browserPage;
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: dataConnectMessages.saveDatabaseTs() }).click();
    const saved = await saving;
    expect(saved.suggestedFilename()).toBe('database.ts');
    expect(readFileSync(await saved.path(), 'utf8')).toContain('words: string[] | null;');
  });

  it.each(screens)('fits on $on', async (screen) => {
    await run('create table if not exists berths (id int primary key, boat text not null unique)');
    await using browserPage = await visit('/data/tables', screen);
    const { page } = browserPage;
    await page.getByRole('button', { name: dataMessages.newTable() }).click();
    await page.getByRole('dialog').getByLabel(dataMessages.name(), { exact: true }).fill('boats');
    await expectFits(browserPage, 'data-new-table', screen);
    await page.goto(`${fixture.host.url('control')}/data/tables/public.berths/`);
    await page.getByRole('link', { name: dataMessages.columns(), exact: true }).click();
    await page.getByRole('button', { name: dataMessages.changeColumns() }).click();
    await page.getByRole('dialog').getByRole('group', { name: 'boat' }).waitFor();
    await expectFits(browserPage, 'data-columns', screen);
    await page.goto(`${fixture.host.url('control')}/data/connect`);
    await page.getByText(dataConnectMessages.howTokensAreSignedAnd()).click();
    await expectFits(browserPage, 'data-keys', screen);
  });
});
