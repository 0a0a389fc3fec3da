import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { layCable } from './cable.ts';
import { openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('Inbox', () => {
  let pages: Pages;
  beforeEach(async () => {
    pages = await openPages();
  });
  afterEach(() => pages[Symbol.asyncDispose]());

  it('says what fills it, and shows the first row as it arrives', async () => {
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    await page.getByText(/The mail gateway is off/).waitFor();
    pages.inbox.add({ title: 'Backup finished', body: '12 GB' });
    await page.getByRole('button', { name: /Backup finished/ }).waitFor();
    await page.getByLabel('1 unread').waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('shows what arrived while the connection was cut, once', async () => {
    await using cable = await layCable(pages.url);
    await using visit = await pages.visit('/inbox', { through: cable });
    const { page } = visit;
    pages.inbox.add({ title: 'Before' });
    await page.getByRole('button', { name: /Before/ }).waitFor();
    cable.cut();
    pages.inbox.add({ title: 'Meanwhile' });
    await page.getByText('Homeport does not answer.').waitFor();
    expect(await page.getByRole('button', { name: /Before/ }).count()).toBe(1);
    cable.mend();
    await page.getByRole('button', { name: /Meanwhile/ }).waitFor();
    pages.inbox.add({ title: 'After' });
    await page.getByRole('button', { name: /After/ }).waitFor();
    await page.getByText('Homeport does not answer.').waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: /Meanwhile|Before|After/ }).count()).toBe(3);
    await page.getByLabel('3 unread').waitFor();
  });

  it('shows a message as the plain text it is', async () => {
    const body = 'line one\n    indented <img src=x onerror=alert(1)> **bold**';
    pages.inbox.add({ title: '<b>Title</b>', body, format: 'html', link: 'javascript:alert(1)', tags: ['nas'] });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    await page.getByRole('button', { name: /<b>Title/ }).click();
    const article = page.getByRole('article');
    await article.getByRole('heading', { name: '<b>Title</b>' }).waitFor();
    expect(await article.innerText()).toContain(body);
    expect(await article.locator('img, b, a').count()).toBe(0);
    expect(visit.complaints).toEqual([]);
  });

  it('marks read on opening, puts away, and removes for good on a second press', async () => {
    pages.inbox.add({ title: 'Old', read: true });
    pages.inbox.add({ title: 'One' });
    pages.inbox.add({ title: 'Two' });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    await page.getByRole('button', { name: /One/ }).click();
    await page.getByLabel('1 unread').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: /One/ }).waitFor({ state: 'detached' });
    expect(pages.inbox.items.find(({ title }) => title === 'One')).toMatchObject({ read: true, done: true });
    await page.getByRole('button', { name: /Two/ }).click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('button', { name: 'Remove for good' }).click();
    await page.getByRole('button', { name: /Two/ }).waitFor({ state: 'detached' });
    expect(pages.inbox.items.map(({ title }) => title)).toEqual(['One', 'Old']);
  });

  it('searches, filters by source and by state, and keeps that in the address', async () => {
    pages.inbox.add({ title: 'Parity check', source: 'uptime' });
    pages.inbox.add({ title: 'Parity report', source: 'mail' });
    pages.inbox.add({ title: 'Milk', source: 'mail', done: true });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    const rows = page.getByRole('region', { name: 'Messages' }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole('searchbox').fill('parity rep');
    await expect.poll(() => rows.count()).toBe(1);
    await page.reload();
    await expect.poll(() => rows.count()).toBe(1);
    expect(await page.getByRole('searchbox').inputValue()).toBe('parity rep');
    await page.getByRole('searchbox').fill('');
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByLabel('Source').selectOption('uptime');
    await expect.poll(() => rows.count()).toBe(1);
    pages.inbox.add({ title: 'Not this source', source: 'mail' });
    pages.inbox.add({ title: 'Site down', source: 'uptime', priority: 5 });
    await page.getByRole('button', { name: /Site down/ }).waitFor();
    expect(await rows.count()).toBe(2);
    await page.getByLabel('Source').selectOption('');
    await page.getByLabel('Show').selectOption('done');
    await page.getByRole('button', { name: /Milk/ }).waitFor();
    expect(await rows.count()).toBe(1);
  });

  it('loads older rows on request', async () => {
    for (let count = 0; count < 120; count += 1) pages.inbox.add({ read: true });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    const rows = page.getByRole('region', { name: 'Messages' }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(50);
    await page.getByRole('button', { name: 'Load older ones' }).click();
    await expect.poll(() => rows.count()).toBe(100);
    await page.getByRole('button', { name: 'Load older ones' }).click();
    await expect.poll(() => rows.count()).toBe(120);
    expect(await page.getByRole('button', { name: 'Load older ones' }).count()).toBe(0);
  });

  it('is read with the keyboard alone', async () => {
    for (const title of ['Three', 'Two', 'One']) pages.inbox.add({ title });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    await page.getByRole('button', { name: /One/ }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('article').getByRole('heading', { name: 'One' }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('article').getByRole('heading', { name: 'Two' }).waitFor();
    await page.keyboard.press('e');
    await page.getByRole('article').getByRole('heading', { name: 'Three' }).waitFor();
    expect(pages.inbox.items.find(({ title }) => title === 'Two')?.done).toBe(true);
    await page.keyboard.press('/');
    await page.keyboard.type('Thr');
    expect(await page.getByRole('searchbox').inputValue()).toBe('Thr');
  });
});
