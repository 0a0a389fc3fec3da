import * as stateMessages from '#messages/state';
import * as frameMessages from '#messages/frame';
import * as inboxMessages from '#messages/inbox';
import * as partsMessages from '#messages/parts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inboxChanged } from '../../services/contracts/inbox/api.ts';
import { noBrowser } from '../support/browser.ts';
import { layCable } from './interruptible-proxy.ts';
import { closeToasts } from './toasts.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('the inbox', () => {
  let pages: Pages;
  beforeEach(async () => {
    pages = await openPages();
  });
  afterEach(() => pages[Symbol.asyncDispose]());

  it('shows how to fill it, and the first message as it arrives', async () => {
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    await page.getByText(inboxMessages.mailOffHint()).waitFor();
    pages.inbox.add({ title: 'Backup finished', body: '12 GB' });
    await page.getByRole('button', { name: /Backup finished/ }).waitFor();
    await page.getByLabel(frameMessages.countUnread({ unread: 1 })).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('shows the sender of a mail in the second line, and other titles unchanged', async () => {
    await using visit = await pages.visit('/inbox');
    const row = (name: RegExp) => visit.page.getByRole('button', { name });
    pages.inbox.add({ source: 'mail', title: 'Backup finished (nas@example.org)', body: '12 GB' });
    await row(/Backup finished(?! \().*nas@example\.org/).waitFor();
    pages.inbox.add({ source: 'push', title: 'Asked (bob@example.org)' });
    await row(/Asked \(bob@example\.org\)/).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('shows messages that arrived while the connection was lost, once', async () => {
    await using cable = await layCable(pages.url);
    await using visit = await pages.visit('/inbox', { through: cable });
    const { page } = visit;
    pages.inbox.add({ title: 'Before' });
    await page.getByRole('button', { name: /Before/ }).waitFor();
    cable.cut();
    pages.inbox.add({ title: 'Meanwhile' });
    await page.getByText(frameMessages.hostUnavailable()).waitFor();
    expect(await page.getByRole('button', { name: /Before/ }).count()).toBe(1);
    cable.resume();
    await page.getByRole('button', { name: /Meanwhile/ }).waitFor();
    pages.inbox.add({ title: 'After' });
    await page.getByRole('button', { name: /After/ }).waitFor();
    await page.getByText(frameMessages.hostUnavailable()).waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: /Meanwhile|Before|After/ }).count()).toBe(3);
    await page.getByLabel(frameMessages.countUnread({ unread: 3 })).waitFor();
  });

  it('shows messages that arrived before the event stream was open', async () => {
    await using visit = await pages.visit('/mark.svg');
    const { page } = visit;
    const release = Promise.withResolvers<undefined>();
    await page.route(/\/api\/events/, async (route) => {
      await release.promise;
      await route.continue();
    });
    await page.goto(`${pages.url}/inbox`);
    await page.getByText(inboxMessages.mailOffHint()).waitFor();
    pages.inbox.add({ title: 'Early' });
    release.resolve(undefined);
    await page.getByRole('button', { name: /Early/ }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('shows a text message as plain text', async () => {
    const body = 'line one\n    indented <img src=x onerror=alert(1)> **bold**';
    pages.inbox.add({ title: '<b>Title</b>', body, link: 'javascript:alert(1)', tags: ['nas'] });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    await page.getByRole('button', { name: /<b>Title/ }).click();
    const article = page.getByRole('article');
    await article.getByRole('heading', { name: '<b>Title</b>' }).waitFor();
    expect(await article.innerText()).toContain(body);
    expect(await article.locator('img, b, a').count()).toBe(0);
    expect(visit.complaints).toEqual([]);
  });

  it('renders Markdown and opens its links in a new tab', async () => {
    const body = '# Report\n\n- **one**\n- two\n\n[the log](https://nas.example/log) [bad](javascript:alert(1))';
    pages.inbox.add({ title: 'Report', body, format: 'markdown', link: 'https://nas.example/' });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    await page.getByRole('button', { name: /Report/ }).click();
    const article = page.getByRole('article');
    await article.getByRole('heading', { name: 'Report', level: 3 }).waitFor();
    expect(await article.getByRole('listitem').allInnerTexts()).toEqual(['one', 'two']);
    const link = article.getByRole('link', { name: 'the log' });
    expect(await link.getAttribute('rel')).toContain('noopener');
    expect(await link.getAttribute('target')).toBe('_blank');
    expect(await article.getByRole('link').count()).toBe(2);
    expect(visit.complaints).toEqual([]);
  });

  it('loads pictures only on request, and only over https', async () => {
    const body =
      '<p>Cat</p><img src="https://pictures.example/cat.png" alt="cat"><img src="http://10.0.0.1/x" alt="spy">';
    pages.inbox.add({ title: 'Cat', body, format: 'html' });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    const requests: string[] = [];
    await page.route(/pictures\.example|10\.0\.0\.1/, (route) => {
      requests.push(route.request().url());
      return route.fulfill({ contentType: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg"/>' });
    });
    await page.getByRole('button', { name: /Cat/ }).click();
    await page.getByRole('button', { name: partsMessages.showPictures({ count: 1 }) }).click();
    await page.getByRole('img', { name: 'cat' }).waitFor({ state: 'attached' });
    await expect.poll(() => requests).toEqual(['https://pictures.example/cat.png']);
    expect(await page.getByRole('article').getByText('[spy]').count()).toBe(1);
    expect(visit.complaints).toEqual([]);
  });

  it.each([
    ['script', '<script>document.title="bad"</script><img src=x onerror="document.title=\'bad\'">hello'],
    ['style', '<style>*{display:none}</style><p style="position:fixed;inset:0" class="x">hello</p>'],
    ['svg', '<svg onload="document.title=\'bad\'"><a xlink:href="javascript:alert(1)">x</a></svg>hello'],
    [
      'frame and form',
      '<iframe srcdoc="<b>x"></iframe><form action="//e.example"><input></form><base href="//e">hello',
    ],
    ['clobbering', '<a id="app" name="body" href="https://x.example">hello</a><img name="getElementById">'],
  ])('shows a hostile body without harmful elements: %s', async (name, body) => {
    pages.inbox.add({ title: name, body, format: 'html' });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    await page
      .getByRole('button', { name: `${name}` })
      .first()
      .click();
    const text = page.getByRole('article').locator('.rich');
    await text.getByText('hello').waitFor();
    expect(
      await text.locator('script, style, svg, iframe, form, input, base, [style], [id], [name], [class]').count(),
    ).toBe(0);
    expect(await page.title()).toBe(partsMessages.documentTitle({ title: inboxMessages.inbox() }));
    expect(visit.complaints).toEqual([]);
  });

  it('shows characters that reverse or hide text', async () => {
    pages.inbox.add({ title: 'invoice\u202Efdp.exe', body: 'pay\u200Bpal\u2066 \u0000here', tags: ['a\u202Eb'] });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    await page.getByRole('button', { name: /invoicefdp\.exe/ }).click();
    const article = page.getByRole('article');
    await article.getByRole('heading', { name: 'invoicefdp.exe' }).waitFor();
    expect(await article.innerText()).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u200B]/u);
    await article.getByText('paypal here').waitFor();
  });

  it.each(['[', '> ', '_a'])('stays responsive for Markdown that is slow to parse: %j', async (piece) => {
    pages.inbox.add({ title: 'Slow', body: piece.repeat(19_000 / piece.length), format: 'markdown' });
    pages.inbox.add({ title: 'Next', body: 'calm', format: 'markdown' });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    await page.getByRole('button', { name: /Slow/ }).click();
    await page.getByRole('article').getByRole('heading', { name: 'Slow' }).waitFor();
    await page.getByRole('button', { name: /Next/ }).click();
    await page.getByRole('article').getByText('calm').waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('shows a megabyte of text in parts', async () => {
    pages.inbox.add({ title: 'Huge', body: `${'<b>x</b> '.repeat(120_000)}the end`, format: 'html' });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    await page.getByRole('button', { name: /Huge/ }).click();
    await page.getByRole('button', { name: partsMessages.showMore() }).click();
    await page.getByText('23% shown').waitFor();
    expect((await page.getByRole('article').innerText()).length).toBeGreaterThan(200_000);
    expect(visit.complaints).toEqual([]);
  });

  it('marks messages as read on opening, and marks as done and removes them with Undo', async () => {
    pages.inbox.add({ title: 'Old', read: true });
    pages.inbox.add({ title: 'One' });
    pages.inbox.add({ title: 'Two' });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    const news = page.getByRole('region', { name: partsMessages.news() });
    await page.getByRole('button', { name: /^New One/ }).click();
    await page.getByLabel(frameMessages.countUnread({ unread: 1 })).waitFor();
    await page.getByRole('button', { name: inboxMessages.done() }).click();
    await page.getByRole('button', { name: /One mail/ }).waitFor({ state: 'detached' });
    await expect
      .poll(() => pages.inbox.items.find(({ title }) => title === 'One'))
      .toMatchObject({ read: true, done: true });
    await news.getByRole('button', { name: partsMessages.undo() }).click();
    await expect.poll(() => pages.inbox.items.find(({ title }) => title === 'One')?.done).toBe(false);
    const row = page.getByRole('region', { name: inboxMessages.messages() }).getByRole('button', { name: /Two/ });
    await row.click();
    await page.getByRole('article').getByRole('button', { name: inboxMessages.remove(), exact: true }).click();
    await row.waitFor({ state: 'detached' });
    expect(pages.inbox.items.map(({ title }) => title)).toEqual(['Two', 'One', 'Old']);
    await news.getByRole('button', { name: partsMessages.undo() }).click();
    await row.click();
    await page.getByRole('article').getByRole('button', { name: inboxMessages.remove(), exact: true }).click();
    const titles = (): readonly string[] => pages.inbox.items.map(({ title }) => title);
    await expect.poll(() => closeToasts(page).then(titles)).toEqual(['One', 'Old']);
  });

  it('opens the message in the path, as from a popup', async () => {
    const item = pages.inbox.add({ title: 'From the popup', body: 'All of it' });
    await using visit = await pages.visit(`/inbox/${String(item.id)}`);
    const { page } = visit;
    await page.getByRole('article').getByText('All of it').waitFor();
    await page.getByRole('button', { name: /From the popup/ }).waitFor();
    await expect.poll(() => pages.inbox.items[0]?.read).toBe(true);
    await page.getByRole('article').getByRole('button', { name: inboxMessages.close() }).click();
    await page.getByRole('article').waitFor({ state: 'detached' });
    await expect.poll(() => new URL(page.url()).pathname).toBe('/inbox');
    expect(visit.complaints).toEqual([]);
  });

  it('opens a message that is far down, done or filtered out', async () => {
    const first = pages.inbox.add({ title: 'The first of many', body: 'Far down' });
    const doneItem = pages.inbox.add({ title: 'Away', body: 'Put away', done: true });
    for (let index = 0; index < 300; index += 1) pages.inbox.add();
    await using visit = await pages.visit(`/inbox/${String(first.id)}`);
    const { page } = visit;
    await page.getByRole('article').getByText('Far down').waitFor();
    await page.goto(`${pages.url}/inbox/${String(doneItem.id)}`);
    await page.getByRole('article').getByText('Put away', { exact: true }).waitFor();
    await page.getByRole('button', { name: inboxMessages.putBack() }).waitFor();
    await page.goto(`${pages.url}/inbox/${String(first.id)}?source=push`);
    await page.getByRole('article').getByText('Far down').waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('source')).toBe('push');
    expect(visit.complaints).toEqual([]);
  });

  it('reports a missing message, also when it is removed while it is open', async () => {
    const item = pages.inbox.add({ title: 'Soon gone', body: 'Read me', done: true });
    await using visit = await pages.visit('/inbox/4711');
    const { page } = visit;
    await page.getByRole('heading', { name: inboxMessages.messageNotFound() }).waitFor();
    await page.getByRole('button', { name: inboxMessages.backToTheInbox() }).click();
    await page.getByRole('heading', { name: inboxMessages.messageNotFound() }).waitFor({ state: 'detached' });
    await page.goto(`${pages.url}/inbox/no-number`);
    await page.getByRole('heading', { name: inboxMessages.messageNotFound() }).waitFor();
    await page.goto(`${pages.url}/inbox/${String(item.id)}`);
    await page.getByRole('article').getByText('Read me').waitFor();
    pages.inbox.items = [];
    pages.inbox.bus?.publish(inboxChanged, { ids: [item.id], change: { removed: true }, unread: 0 });
    await page.getByRole('heading', { name: inboxMessages.messageNotFound() }).waitFor();
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('completes a removal when the tab is closed before Undo expired', async () => {
    pages.inbox.add({ title: 'Stays' });
    pages.inbox.add({ title: 'Goes' });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    await page.getByRole('button', { name: /Goes/ }).click();
    await page.getByRole('button', { name: inboxMessages.remove(), exact: true }).click();
    await page.getByText(stateMessages.messagesRemoved({ count: 1 })).waitFor();
    expect(pages.inbox.items).toHaveLength(2);
    // Over loopback nearly every request completes in time; on a slow connection only requests with keepalive do.
    const context = page.context();
    await page.evaluate(() => {
      const real = fetch;
      globalThis.fetch = (address, options) => {
        localStorage.setItem('outlives', String(options?.keepalive));
        return real(address, options);
      };
    });
    await page.close({ runBeforeUnload: true });
    await expect.poll(() => pages.inbox.items.map(({ title }) => title)).toEqual(['Stays']);
    const next = await context.newPage();
    await next.goto(`${pages.url}/inbox`);
    expect(await next.evaluate(() => localStorage.getItem('outlives'))).toBe('true');
  });

  it('changes many messages together', async () => {
    for (const title of ['Five', 'Four', 'Three', 'Two', 'One']) pages.inbox.add({ title });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    await page.getByRole('checkbox', { name: inboxMessages.chooseMessage({ title: 'One' }) }).check();
    await page
      .getByRole('checkbox', { name: inboxMessages.chooseMessage({ title: 'Three' }) })
      .click({ modifiers: ['Shift'] });
    await page.getByText(inboxMessages.countChosen({ count: 3 })).waitFor();
    await page.getByRole('toolbar').getByRole('button', { name: inboxMessages.markRead() }).click();
    await page.getByLabel(frameMessages.countUnread({ unread: 2 })).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByText(inboxMessages.countChosen({ count: 1 })).waitFor();
    await page.getByRole('button', { name: inboxMessages.all(), exact: true }).click();
    await page.getByRole('toolbar').getByRole('button', { name: inboxMessages.done() }).click();
    await page.getByText(inboxMessages.nothingHasArrivedYet()).waitFor();
    await expect.poll(() => pages.inbox.items.every(({ done }) => done)).toBe(true);
  });

  it('names the actions for selected messages, also in narrow lists', async () => {
    pages.inbox.add({ title: 'One' });
    await using visit = await pages.visit('/inbox', { width: 360, height: 740 });
    const { page } = visit;
    await page.getByRole('checkbox', { name: inboxMessages.chooseMessage({ title: 'One' }) }).check();
    const toolbar = page.getByRole('toolbar');
    for (const label of [inboxMessages.done(), inboxMessages.readShort(), inboxMessages.remove()]) {
      await toolbar.getByText(label, { exact: true }).waitFor();
    }
    const [bar, last] = [await toolbar.boundingBox(), await toolbar.getByRole('button').last().boundingBox()];
    if (bar === null || last === null) throw new Error('The toolbar is not visible.');
    expect(last.x + last.width).toBeLessThanOrEqual(bar.x + bar.width);
    expect(visit.complaints).toEqual([]);
  });

  it('lists messages below the heading of their day, with the emoji of their tags', async () => {
    const day = 86_400_000;
    pages.inbox.add({ title: 'Oldest', time: Date.now() - 40 * day });
    pages.inbox.add({ title: 'Earlier', time: Date.now() - day });
    pages.inbox.add({ title: 'Tagged', tags: ['nas', 'tada'] });
    pages.inbox.add({ title: 'Plain' });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    const list = page.getByRole('region', { name: inboxMessages.messages() });
    const days = list.getByRole('heading', { level: 2 });
    await expect.poll(() => days.count()).toBe(3);
    expect((await days.allInnerTexts()).slice(0, 2)).toEqual([
      partsMessages.todayHeading(),
      partsMessages.yesterdayHeading(),
    ]);
    const row = (text: string) => list.getByRole('listitem').filter({ hasText: text });
    await row('Tagged').getByText('🎉').waitFor();
    expect(await row('Earlier').getByRole('heading').innerText()).toBe(partsMessages.yesterdayHeading());
    // A new message takes over the heading of its day.
    pages.inbox.add({ title: 'Newest' });
    await row('Newest').getByRole('heading', { name: partsMessages.todayHeading() }).waitFor();
    await expect.poll(() => days.count()).toBe(3);
    expect(visit.complaints).toEqual([]);
  });

  it('keeps new messages pending while the pointer is over the list', async () => {
    pages.inbox.add({ title: 'First' });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    const first = page.getByRole('button', { name: /New First/ });
    await first.hover();
    const before = await first.boundingBox();
    pages.inbox.add({ title: 'Second' });
    pages.inbox.add({ title: 'Third' });
    await page.getByRole('button', { name: inboxMessages.newMessageCount({ count: 2 }) }).waitFor();
    expect(await first.boundingBox()).toEqual(before);
    await page.mouse.move(0, 0);
    await page.getByRole('button', { name: /New Third/ }).waitFor();
    expect(await page.getByRole('button', { name: inboxMessages.newMessageCount({ count: 2 }) }).count()).toBe(0);
  });

  it('searches and filters by source and status, with filters in the address', async () => {
    pages.inbox.add({ title: 'Parity check', source: 'uptime' });
    pages.inbox.add({ title: 'Parity report', source: 'mail' });
    pages.inbox.add({ title: 'Milk', source: 'mail', done: true });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    const rows = page.getByRole('region', { name: inboxMessages.messages() }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole('searchbox').fill('parity rep');
    await expect.poll(() => rows.count()).toBe(1);
    await page.reload();
    await expect.poll(() => rows.count()).toBe(1);
    expect(await page.getByRole('searchbox').inputValue()).toBe('parity rep');
    await page.getByRole('searchbox').fill('');
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByLabel(inboxMessages.source()).selectOption('uptime');
    await expect.poll(() => rows.count()).toBe(1);
    pages.inbox.add({ title: 'Not this source', source: 'mail' });
    pages.inbox.add({ title: 'Site down', source: 'uptime', priority: 5 });
    await page.getByRole('button', { name: /Site down/ }).waitFor();
    expect(await rows.count()).toBe(2);
    await page.getByLabel(inboxMessages.source()).selectOption('');
    await page.getByLabel(inboxMessages.show()).selectOption('done');
    await page.getByRole('button', { name: /Milk/ }).waitFor();
    expect(await rows.count()).toBe(1);
  });

  it('filters by priority and by tag', async () => {
    pages.inbox.add({ title: 'Calm', tags: ['nas'] });
    pages.inbox.add({ title: 'Loud', priority: 4 });
    pages.inbox.add({ title: 'Alarm', priority: 5, tags: ['nas'] });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    const rows = page.getByRole('region', { name: inboxMessages.messages() }).getByRole('listitem');
    await page.getByLabel(inboxMessages.priority()).selectOption('4');
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole('button', { name: /Alarm/ }).click();
    await page.getByRole('article').getByRole('button', { name: 'nas' }).click();
    await expect.poll(() => rows.count()).toBe(1);
    await expect.poll(() => new URL(page.url()).search).toBe('?priority=4&tag=nas');
    await page.getByRole('button', { name: partsMessages.removeTag({ text: 'nas' }) }).click();
    await expect.poll(() => rows.count()).toBe(2);
  });

  it('shows the emoji of a tag before the title, as phones do', async () => {
    const { id } = pages.inbox.add({
      title: 'Storm',
      tags: ['warning', 'garden', 'uptime', 'uptime.maintenance_reminder'],
    });
    await using visit = await pages.visit(`/inbox/messages/${String(id)}`);
    const tags = visit.page.getByRole('list', { name: inboxMessages.tags() }).getByRole('button');
    await expect.poll(() => tags.allTextContents()).toEqual(['garden', 'uptime', 'maintenance reminder']);
    await visit.page.getByRole('heading', { level: 2, name: '\u26A0\uFE0F Storm' }).waitFor();
  });

  it('scrolls through ten thousand messages and renders only visible ones', async () => {
    for (let count = 0; count < 10_000; count += 1) pages.inbox.add({ read: true });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    const rows = page.getByRole('region', { name: inboxMessages.messages() }).getByRole('listitem');
    await page.getByRole('button', { name: /Message 10000/ }).waitFor();
    const list = page.getByRole('group', { name: inboxMessages.messagesNewestFirst() });
    await expect
      .poll(
        async () => {
          await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
          return list.innerText();
        },
        { interval: 5 },
      )
      .toMatch(/Message 1\n/);
    expect(await rows.count()).toBeLessThan(60);
    expect(await rows.first().getAttribute('aria-setsize')).toBe('10000');
    expect(visit.complaints).toEqual([]);
  });

  it('opens a page of Homeport within the app', async () => {
    pages.inbox.add({ title: 'Film', link: `${pages.url}/downloads` });
    await using visit = await pages.visit('/inbox');
    await visit.page.getByRole('button', { name: /Film/ }).click();
    await visit.page.getByRole('link', { name: inboxMessages.openItInHomeport() }).click();
    await visit.page.getByRole('heading', { level: 1, name: frameMessages.downloadsTitle() }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('hides the filters behind a button with their count on a phone', async () => {
    pages.inbox.add({ title: 'Storm', priority: 4 });
    pages.inbox.add({ title: 'Calm' });
    await using visit = await pages.visit('/inbox', { width: 360, height: 740, touch: true });
    const { page } = visit;
    await page.getByRole('button', { name: /Calm/ }).waitFor();
    expect(await page.getByLabel(inboxMessages.priority()).isVisible()).toBe(false);
    await page.getByRole('button', { name: inboxMessages.filter() }).click();
    await page.getByLabel(inboxMessages.priority()).selectOption('4');
    await page.getByRole('button', { name: 'Filter 1' }).waitFor();
    await page.getByRole('button', { name: /Calm/ }).waitFor({ state: 'detached' });
    expect(visit.complaints).toEqual([]);
  });

  it('restores the scroll position after a message was read on a phone', async () => {
    for (let count = 0; count < 200; count += 1) pages.inbox.add({ read: true });
    await using visit = await pages.visit('/inbox', { width: 360, height: 740, touch: true });
    const { page } = visit;
    await page.getByRole('button', { name: /Message 200/ }).waitFor();
    await page.evaluate(() => scrollTo(0, 5000));
    const row = page.getByRole('button', { name: /Message 130/ });
    await row.click();
    await page.getByRole('article').waitFor();
    expect(await page.evaluate(() => scrollY)).toBe(0);
    await page.goBack();
    await row.waitFor();
    await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(4000);
    expect(visit.complaints).toEqual([]);
  });

  it('keeps new messages pending on a phone, also while a message is open', async () => {
    for (let count = 0; count < 200; count += 1) pages.inbox.add({ read: true });
    await using visit = await pages.visit('/inbox', { width: 360, height: 740, touch: true });
    const { page } = visit;
    await page.getByRole('button', { name: /Message 200/ }).waitFor();
    await page.evaluate(() => scrollTo(0, 5000));
    const row = page.getByRole('button', { name: /Message 130/ });
    await row.waitFor();
    pages.inbox.add();
    await page.getByRole('button', { name: inboxMessages.newMessageCount({ count: 1 }) }).waitFor();
    const before = await row.boundingBox();
    await row.tap();
    await page.getByRole('article').waitFor();
    pages.inbox.add();
    await page.getByLabel(frameMessages.countUnread({ unread: 2 })).waitFor({ state: 'attached' });
    await page.goBack();
    await page.getByRole('button', { name: inboxMessages.newMessageCount({ count: 2 }) }).waitFor();
    await expect.poll(() => row.boundingBox()).toEqual(before);
    expect(visit.complaints).toEqual([]);
  });

  it('adds new messages on a phone when most were removed while one was open', async () => {
    for (let count = 0; count < 30; count += 1) pages.inbox.add();
    await using visit = await pages.visit('/inbox', { width: 360, height: 740, touch: true });
    const { page } = visit;
    await page.getByRole('button', { name: /Message 30/ }).waitFor();
    await page.evaluate(() => scrollTo(0, 1000));
    await page.getByRole('button', { name: /Message 15/ }).tap();
    await page.getByLabel(frameMessages.countUnread({ unread: 29 })).waitFor({ state: 'attached' });
    const removedIds = pages.inbox.items.filter(({ id }) => id > 2 && id !== 15).map(({ id }) => id);
    pages.inbox.items = pages.inbox.items.filter(({ id }) => !removedIds.includes(id));
    pages.inbox.bus?.publish(inboxChanged, { ids: removedIds, change: { removed: true }, unread: 2 });
    await page.getByLabel(frameMessages.countUnread({ unread: 2 }), { exact: true }).waitFor({ state: 'attached' });
    await page.goBack();
    await page.getByRole('button', { name: /Message 15/ }).waitFor();
    pages.inbox.add({ title: 'Lighthouse' });
    await page.getByRole('button', { name: /New Lighthouse/ }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('selects a range from the last selected row, even after it moved', async () => {
    for (let count = 0; count < 5; count += 1) pages.inbox.add({ read: true });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    const box = (name: string) =>
      page.getByRole('checkbox', { name: inboxMessages.chooseMessage({ title: `Message ${name}` }) });
    await box('4').focus();
    await page.keyboard.press('Space');
    await page.getByText(inboxMessages.countChosen({ count: 1 })).waitFor();
    pages.inbox.add({ read: true });
    pages.inbox.add({ read: true });
    await page.getByRole('button', { name: /Message 7/ }).waitFor();
    await box('2').focus();
    await page.keyboard.press('Shift+Space');
    await page.getByText(inboxMessages.countChosen({ count: 3 })).waitFor();
    expect(await box('7').isChecked()).toBe(false);
  });

  it('is usable with the keyboard only', async () => {
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
    await expect.poll(() => pages.inbox.items.find(({ title }) => title === 'Two')?.done).toBe(true);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: inboxMessages.keys() }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await page.keyboard.type('Thr');
    expect(await page.getByRole('searchbox').inputValue()).toBe('Thr');
  });
});
