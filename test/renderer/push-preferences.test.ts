import { attachedPicture } from '#messages/inbox';
import * as pushMessages from '#messages/push';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { push } from '../../services/push/index.ts';
import { noBrowser } from '../support/browser.ts';
import { adminAuthorization } from '../support/host.ts';
import { seriousFindings } from './axe.ts';
import { openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('a topic', () => {
  let pages: Pages;
  beforeAll(async () => {
    pages = await openPages({ services: [push, inbox, control] });
    await publish('router-info-maintenance');
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  async function publish(topic: string): Promise<void> {
    const request = { method: 'POST', body: `news of ${topic}`, headers: { Authorization: adminAuthorization } };
    expect((await fetch(`${pages.host.url('push')}/${topic}`, request)).status).toBe(200);
  }

  it('has a display name and a sound for each account, which new messages play', async () => {
    await using visit = await pages.visit('/push/topics/router-info-maintenance');
    const { page } = visit;
    await page.getByRole('heading', { level: 1, name: 'router-info-maintenance' }).waitFor();
    await page.evaluate(() => {
      const started: number[] = [];
      Object.assign(globalThis, { started });
      const { value: start } = Object.getOwnPropertyDescriptor(AudioScheduledSourceNode.prototype, 'start') as {
        value: OscillatorNode['start'];
      };
      OscillatorNode.prototype.start = function (this: OscillatorNode, when?: number): void {
        started.push(this.frequency.value);
        start.call(this, when);
      };
    });
    const readTones = () => page.evaluate(() => (globalThis as unknown as { started: number[] }).started.length);
    const topic = { topic: 'router-info-maintenance' };
    await page.getByRole('button', { name: pushMessages.nameAndSoundOfTopic(topic) }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(pushMessages.displayName(), { exact: true }).fill('Router');
    await dialog.getByLabel(pushMessages.sound(), { exact: true }).selectOption('knock');
    await dialog.getByRole('button', { name: pushMessages.playSound() }).click();
    await expect.poll(readTones).toBe(2);
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('Tab');
    await dialog.getByRole('button', { name: pushMessages.save() }).click();
    await page.getByRole('heading', { level: 1, name: 'Router', exact: true }).waitFor();
    await expect.poll(() => page.title()).toMatch(/^Router/);
    await publish('router-info-maintenance');
    await expect.poll(readTones).toBe(4);
    await page.getByRole('link', { name: pushMessages.topics(), exact: true }).click();
    const row = page
      .getByRole('region', { name: pushMessages.topics() })
      .getByTitle('router-info-maintenance', { exact: true });
    await expect.poll(() => row.innerText()).toContain('Router');
    await row.click();
    await page.getByRole('button', { name: pushMessages.nameAndSoundOfTopic(topic) }).click();
    await dialog.getByLabel(pushMessages.displayName(), { exact: true }).fill('');
    await dialog.getByLabel(pushMessages.sound(), { exact: true }).selectOption('default');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1, name: 'router-info-maintenance' }).waitFor();
  });

  it('shows the picture of a message in the row and the view of the inbox', async () => {
    const picture = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    const headers = { Authorization: adminAuthorization, filename: 'door.png', title: 'Somebody at the door' };
    expect((await fetch(`${pages.host.url('push')}/plain`, { method: 'PUT', body: picture, headers })).status).toBe(
      200,
    );
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    const row = page.getByRole('button', { name: /Somebody at the door/ });
    const isLoaded = (image: HTMLElement | SVGElement): number => (image as HTMLImageElement).naturalWidth;
    await expect.poll(() => row.locator('img').evaluate(isLoaded)).toBe(1);
    await row.click();
    const image = page.getByRole('article').getByRole('img', { name: attachedPicture() });
    await expect.poll(() => image.evaluate(isLoaded)).toBe(1);
    expect(await seriousFindings(page)).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });
});
