import * as partsMessages from '#messages/parts';
import * as homeMessages from '#messages/home';
import * as accessMessages from '#messages/access';
import * as frameMessages from '#messages/frame';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serviceChanged } from '../../services/contracts/control/api.ts';
import { noBrowser } from '../support/browser.ts';
import { startingWith } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { addSampleData } from './sample-data.ts';
import { screens } from './screens.ts';
import { openPages, type Pages } from './visit.ts';

const views = [
  ['home', '/', 'Home'],
  ['inbox', '/inbox', 'Inbox'],
  ['message', '/inbox/messages/7', 'Inbox'],
  ['downloads', '/downloads', 'Downloads'],
  ['download', '/downloads/queue/2', 'Downloads'],
  ['settings', '/settings/moody', 'Moody'],
  ['log', '/settings/log', 'Log'],
  ['parts', '/gallery', frameMessages.galleryTitle()],
] as const;

describe.skipIf(noBrowser)('all pages', () => {
  let pages: Pages;
  beforeAll(async () => {
    pages = await openPages({ environment: { MOODY_FOLDER: '/srv/moody' } });
    addSampleData(pages);
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  describe.each(screens)('on $on', (screen) => {
    it.each(views)('fits: %s', async (name, path, heading) => {
      await using visit = await pages.visit(path, screen);
      const { page } = visit;
      await page.getByRole('heading', { name: heading, exact: true, level: 1 }).waitFor();
      // The gallery shows this state permanently.
      if (name !== 'parts')
        await page
          .getByRole('status', { name: startingWith(partsMessages.loadingSubject({ subject: '' })) })
          .waitFor({ state: 'detached' });
      if (name === 'home') {
        pages.inbox.bus?.publish(serviceChanged, {
          id: 'moody',
          title: 'Moody',
          summary: 'Has a setting of each kind.',
          state: 'failed',
          detail: '',
          reason: 'Port 2586 on 127.0.0.1 is taken by ntfy (process 812). Stop it, or let this service use 2587.',
          address: null,
          port: null,
          suggestedPort: 2587,
          listeners: [],
          grantable: [],
        });
        await page.getByText(homeMessages.usePort({ port: '2587' })).waitFor();
      }
      await expectFits(visit, name, screen);
    });

    it('fits: sign-in', async () => {
      await using visit = await pages.visit('/', { ...screen, signedIn: false });
      await visit.page.getByRole('heading', { name: accessMessages.signIn() }).waitFor();
      await expectFits(visit, 'sign-in', screen);
    });
  });

  it('names every control and has one main heading', async () => {
    for (const [, path] of views) {
      await using visit = await pages.visit(path);
      const { page } = visit;
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
      expect(await page.getByRole('main').count()).toBe(1);
      const controls = page.locator('button, a, input, select, textarea');
      const nameless = await controls.evaluateAll((elements) =>
        elements
          .filter((element) => {
            const labels = 'labels' in element ? [...((element.labels as NodeListOf<Element> | null) ?? [])] : [];
            const texts = [
              element.textContent,
              element.getAttribute('aria-label'),
              ...labels.map((label) => label.textContent),
            ];
            return texts.every((text) => (text ?? '').trim() === '');
          })
          .map((element) => element.outerHTML),
      );
      expect(nameless).toEqual([]);
    }
  });
});
