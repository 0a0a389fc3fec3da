import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inbox } from '../../services/inbox/index.ts';
import { openDataRoom, type DataRoom } from '../services/data/room.ts';
import { noBrowser, openPage, signIn, theBrowser } from '../support/browser.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';

const ann = '11111111-1111-4111-8111-111111111111';

describe.skipIf(noBrowser)('Data', () => {
  let room: DataRoom;
  beforeAll(async () => {
    room = await openDataRoom({ services: [inbox], environment: { DATA_JWT_SECRET: '' } });
  });
  afterAll(() => room[Symbol.asyncDispose]());

  const visit = async (path: string, options = {}) => {
    const watched = await openPage(await theBrowser(), options);
    watched.page.setDefaultTimeout(60_000);
    await signIn(watched.page.context(), room.host.url('control'));
    await watched.page.goto(`${room.host.url('control')}${path}`);
    return watched;
  };

  it('makes a table by a statement, protects it, and says why a user sees what they see', async () => {
    await using watched = await visit('/data/sql');
    const { page } = watched;
    const text = `create table notes (id int primary key, owner uuid, body text); insert into notes values (1, '${ann}', 'mine'), (2, null, 'of nobody'); select body from notes order by id`;
    await page.getByLabel('Statements').fill(text);
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('cell', { name: 'of nobody' }).waitFor();
    await page.getByLabel('Statements').fill('select nonsense');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('42703').waitFor();
    await page.getByText('History', { exact: true }).click();
    await page.getByRole('button', { name: /^create table notes/ }).click();
    expect(await page.getByLabel('Statements').inputValue()).toBe(text);

    await page.goto(`${room.host.url('control')}/data`);
    await page.getByText('A table has no row policies').waitFor();
    await page.getByRole('link', { name: /notes/ }).click();
    await page.getByRole('cell', { name: 'mine', exact: true }).waitFor();
    await page.getByLabel('Column with the owner’s id').fill('owner');
    await page.getByRole('button', { name: 'Owners only' }).click();
    await page.getByText('Row policies are off').waitFor({ state: 'detached' });
    await page.getByLabel('User id').fill(ann);
    await page.getByRole('button', { name: 'Look' }).click();
    await page.getByText('Sees 1 of 2 rows').waitFor();
    await page.getByText('true for 1 rows').waitFor();
  });

  it('shows the keys for servers when asked, and makes one anew', async () => {
    await using watched = await visit('/data/connect');
    const { page } = watched;
    await page.getByText('createClient').first().waitFor();
    expect(await page.content()).not.toContain('sb_secret_');
    await page.getByRole('button', { name: 'Show the keys' }).click();
    const secret = page.getByText(/^sb_secret_/);
    const before = (await secret.textContent()) ?? '';
    await page.getByRole('button', { name: 'Make anew' }).last().click();
    await page.getByRole('button', { name: /Make it anew\?/ }).click();
    await expect.poll(() => secret.textContent()).not.toBe(before);
    const reply = await room.request('/pg/types', { headers: { apikey: (await secret.textContent()) ?? '' } });
    expect(reply.status).toBe(200);
  });

  it.each(screens)('fits $on', async (screen) => {
    await using watched = await visit('/data', screen);
    for (const at of ['', 'sql', 'connect', 'tables/public.notes/']) {
      await watched.page.goto(`${room.host.url('control')}/data/${at}`);
      await watched.page.getByRole('heading', { level: 1, name: 'Databases' }).waitFor();
      if (at.endsWith('notes/')) await watched.page.getByText('Who sees what?').waitFor();
      await expectFits(watched, `data-${at.replaceAll('/', '-') || 'tables'}`, screen);
    }
  });
});
