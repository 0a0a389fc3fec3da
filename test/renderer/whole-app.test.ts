import * as settingsMessages from '#messages/settings';
import * as frameMessages from '#messages/frame';
import * as partsMessages from '#messages/parts';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withLanguage } from '../../messages/language.ts';
import { loadLanguage } from '../../messages/runtime.ts';
import { noBrowser, openPage, getBrowser, signIn } from '../support/browser.ts';
import { api } from '../support/api.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../support/host.ts';
import { startingWith } from '../support/message-patterns.ts';
import { lacksProgram } from '../support/requirements.ts';
import type { Browser } from 'playwright-core';

const run = promisify(execFile);

describe.skipIf(noBrowser)('all pages of the app', () => {
  let host: TestHost;
  let browser: Browser;
  beforeAll(async () => {
    [host, browser] = await Promise.all([openTestHost(), getBrowser()]);
  });
  afterAll(async () => {
    await host[Symbol.asyncDispose]();
  });

  /** Opens Home in a new profile and returns what it loaded until a second after the services were shown. */
  async function loadFirstHome(language: string) {
    await using visit = await openPage(browser);
    const { page } = visit;
    await signIn(page.context(), host.url('control'));
    await page.addInitScript((choice) => localStorage.setItem('homeport.language', choice), language);
    await page.addInitScript(() => {
      const observer = new MutationObserver(() => {
        if (document.querySelector('main li') === null) return;
        observer.disconnect();
        document.documentElement.dataset['drawnAt'] = String(performance.now());
      });
      observer.observe(document, { childList: true, subtree: true });
    });
    await page.goto(host.url('control'));
    const title = withLanguage(language, frameMessages.services);
    await page.getByRole('region', { name: title }).getByRole('listitem').first().waitFor();
    await page.waitForFunction(() => document.querySelector('main [aria-busy="true"]') === null);
    return await page.evaluate(() => {
      const drawnAt = Number(document.documentElement.dataset['drawnAt']);
      const all = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
      // Other pages are preloaded three seconds after Home was rendered.
      const early = all.filter(({ startTime }) => startTime < drawnAt + 1000);
      const [document_] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
      return {
        resources: early.map(({ name, transferSize, encodedBodySize, startTime }) => ({
          name,
          bytes: transferSize,
          compressed: encodedBodySize,
          isBeforeHome: startTime < drawnAt,
        })),
        documentBytes: document_?.transferSize ?? 0,
        late: all.length - early.length,
      };
    });
  }

  it('shows every service running and logs no errors', async () => {
    await using visit = await openPage(browser);
    const { page } = visit;
    await signIn(page.context(), host.url('control'));
    await page.goto(host.url('control'));
    const rows = page.getByRole('region', { name: frameMessages.services() }).getByRole('listitem');
    await rows.first().waitFor();
    expect(await rows.filter({ hasText: partsMessages.stopped() }).count()).toBe(0);
    for (const name of ['Inbox', 'Downloads', 'Settings', 'Log']) {
      await page.getByRole('link', { name }).first().click();
      // The settings open with their first page.
      await page
        .getByRole('heading', {
          level: 1,
          name: name === settingsMessages.settings() ? settingsMessages.general() : name,
        })
        .waitFor();
      await page
        .getByRole('status', { name: startingWith(partsMessages.loadingSubject({ subject: '' })) })
        .waitFor({ state: 'detached' });
      expect(await page.getByRole('alert').filter({ hasText: /./ }).count()).toBe(0);
    }
    expect(visit.complaints).toEqual([]);
  });

  it('needs at most 40 requests and 250 kB for the first Home', async () => {
    const { resources, documentBytes, late } = await loadFirstHome('en');
    expect(resources.length + 1, `${String(late)} came later`).toBeLessThanOrEqual(40);
    expect(resources.length).toBeGreaterThan(4);
    expect(resources.reduce((sum, { bytes }) => sum + bytes, documentBytes)).toBeLessThanOrEqual(250_000);
  });

  it('loads other languages on demand, at most 10 kB of texts for the first Home', async () => {
    await loadLanguage('de');
    const english = new Set((await loadFirstHome('en')).resources.map(({ name }) => name));
    const { resources } = await loadFirstHome('de');
    const translations = resources.filter(
      ({ name, isBeforeHome }) => isBeforeHome && name.endsWith('.js') && !english.has(name),
    );
    expect(translations.length).toBeGreaterThan(0);
    expect(translations.reduce((sum, { compressed }) => sum + compressed, 0)).toBeLessThanOrEqual(10_000);
  });

  it('have a form for every setting of every service', async () => {
    await using visit = await openPage(browser);
    const { page } = visit;
    await signIn(page.context(), host.url('control'));
    await page.goto(`${host.url('control')}/settings`);
    const sections = page.getByRole('navigation', { name: frameMessages.sections() }).getByRole('link');
    await sections.first().waitFor();
    const names = await sections.allInnerTexts();
    for (const name of names) {
      await page
        .getByRole('navigation', { name: frameMessages.sections() })
        .getByRole('link', { name, exact: true })
        .click();
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    }
    expect(visit.complaints).toEqual([]);
  });

  it.skipIf(lacksProgram('swaks'))('offers a mail command that fills the inbox', async () => {
    await using visit = await openPage(browser);
    const { page } = visit;
    await signIn(page.context(), host.url('control'));
    await page.goto(`${host.url('control')}/inbox`);
    const command = await page.getByText(/^swaks --server /).innerText();
    await run('sh', ['-c', command]);
    await page.getByRole('button', { name: /Hello/ }).click();
    await page.getByRole('article').getByText('First light').waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('are found by their contents in the palette: repositories, monitors and topics', async () => {
    const base = host.url('control');
    const make = (path: string, body: unknown) => api(base, path, { method: 'POST', body: JSON.stringify(body) });
    await make('/api/git/repositories', { name: 'lighthouse-code', private: true });
    await make('/api/uptime/monitors', { name: 'Lighthouse lamp', type: 'http', url: base, active: false });
    await fetch(`${host.url('push')}/lighthouse-alerts`, {
      method: 'POST',
      body: 'It is lit',
      headers: { Authorization: adminAuthorization },
    });
    await using visit = await openPage(browser);
    const { page } = visit;
    await signIn(page.context(), base);
    await page.goto(base);
    await page.getByRole('region', { name: frameMessages.services() }).getByRole('listitem').first().waitFor();
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(frameMessages.commandsPrompt()).fill('lighthouse');
    for (const [group, name] of [
      ['Topics', /lighthouse-alerts/],
      ['Monitors', /Lighthouse lamp/],
      ['Repositories', /ada\/lighthouse-code/],
    ] as const) {
      await page.getByRole('group', { name: group }).getByRole('option', { name }).waitFor();
    }
    await page.getByRole('option', { name: /lighthouse-code/ }).click();
    await page.getByRole('heading', { level: 1, name: 'ada/lighthouse-code' }).waitFor();
    await expect.poll(() => new URL(page.url()).pathname).toContain('lighthouse-code');
    expect(visit.complaints).toEqual([]);
  });
});
