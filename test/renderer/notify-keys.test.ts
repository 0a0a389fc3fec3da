import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { openRealServices, type RealServices } from './real-services.ts';

describe.skipIf(noBrowser)('a key of the aggregator', () => {
  let real: RealServices;
  beforeEach(async () => {
    real = await openRealServices();
  });
  afterEach(() => real[Symbol.asyncDispose]());

  const optionsOf = async (key: string) =>
    (await real.ask('GET', '/notify/keys')).keys.find((each: { key: string }) => each.key === key).options;

  it('is told how it behaves, and the playground and the senders feel it', async () => {
    await real.ask('POST', '/notify/keys/aggregator/destinations', { url: 'push://hall', tags: ['night'] });
    await using watched = await real.visit('/notify');
    const { page } = watched;
    await page.getByText('3 of 3 would get it.').waitFor();
    await page.getByRole('radio', { name: 'Only the untagged' }).check();
    await page.getByText('2 of 3 would get it.').waitFor();
    await page.getByRole('switch', { name: 'The sender hears of failures' }).click();
    await page.getByText(/A failure is answered with 424/).waitFor();
    await page.getByLabel('The same notice once more').selectOption('Leave it out for an hour');
    const chosen = { withoutTag: 'untagged', strict: true, repeatSeconds: 3600 };
    await expect.poll(() => optionsOf('aggregator')).toEqual(chosen);
    await page.reload();
    expect(await page.getByRole('switch', { name: 'The sender hears of failures' }).getAttribute('aria-checked')).toBe(
      'true',
    );
    expect(await page.getByRole('radio', { name: 'Only the untagged' }).isChecked()).toBe(true);
    expect(watched.complaints).toEqual([]);
  });
});
