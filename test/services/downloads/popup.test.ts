import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { downloads } from '../../../services/downloads/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { popups } from '../../../services/popups/index.ts';
import { RecordingNotifier } from '../popups/support.ts';
import { dataFolderWith, openRecordedRig, type Rig } from './rig.ts';

describe('the popup at the end of a download', () => {
  const notifier = new RecordingNotifier();
  const opened: string[] = [];
  const dataDir = dataFolderWith({ retries: 0 });
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRecordedRig({
      dataDir,
      services: [downloads, notify, inbox, popups, control],
      notifier,
      openAddress: (address) => void opened.push(address),
    });
  });
  afterAll(async () => {
    await rig[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('contains the title of the video, and opens the download on its page when it is clicked', async () => {
    const uid = await rig.client.add(rig.site.url('/p/og?title=Harbour+at+dawn'));
    await rig.client.ended(uid);
    await expect.poll(() => notifier.popups, { timeout: 15_000 }).toHaveLength(1);
    expect(notifier.popups[0]).toMatchObject({ title: 'Harbour at dawn', body: 'Download finished' });
    notifier.answer('clicked');
    expect(opened).toEqual([`${rig.host.url('control')}/downloads?id=${uid}`]);
  });

  it('shows the reason of a failure and links to the same page', async () => {
    const uid = await rig.client.add(rig.site.url('/dead/50000/big.mp4'));
    expect(await rig.client.ended(uid)).toMatchObject({ status: 'error' });
    await expect.poll(() => notifier.popups.at(-1)?.body, { timeout: 15_000 }).toMatch(/^Download failed: ./);
    notifier.answer('clicked');
    expect(opened.at(-1)).toBe(`${rig.host.url('control')}/downloads?id=${uid}`);
  });
});
