import { describe, expect, it } from 'vitest';
import { preventable, type FakeElectron } from '../support/electron.ts';
import { openDesktop, type RigOptions } from './rig.ts';

/** Moments of the start at which the user or the system can act, and the option of the rig that runs then. */
const moments = [
  ['before Electron is ready', 'beforeReady'],
  ['when Electron is ready', 'whenReady'],
  ['while the tray opens', 'whileOpeningTray'],
  ['while the services are opening', 'whileOpening'],
] as const;
const momentsWithWindow = moments.slice(1);

const at = (moment: (typeof moments)[number][1], act: (electron: FakeElectron) => void): RigOptions => ({
  [moment]: act,
});

describe.each(moments)('start of the desktop app, %s', (_, moment) => {
  it('quits once and without an error', async () => {
    await using rig = await openDesktop(at(moment, (electron) => electron.parts.app.quit()));
    expect([rig.electron.exits, rig.electron.errors]).toEqual([[0], []]);
    expect(rig.electron.windows.filter(({ visible }) => visible)).toEqual([]);
    expect(rig.electron.trays.filter(({ destroyed }) => !destroyed)).toEqual([]);
  });

  it('opens a link', async () => {
    await using rig = await openDesktop({
      hidden: true,
      ...at(moment, ({ events }) => void events.emit('open-url', preventable(), 'homeport://open?view=inbox/7')),
    });
    await rig.sees(() => expect(rig.electron.window?.addresses.at(-1)).toBe(`${rig.own()}/inbox/7`));
    expect(rig.electron.windows).toHaveLength(1);
  });
});

describe.each(momentsWithWindow)('start of the desktop app, %s', (_, moment) => {
  it('shows the window for a second start', async () => {
    await using rig = await openDesktop({ hidden: true, ...at(moment, (electron) => electron.secondInstance([])) });
    await rig.sees(() => expect(rig.electron.window?.addresses.at(-1)).toBe(`${rig.own()}/`));
    expect(rig.electron.window?.visible).toBe(true);
    expect(rig.electron.windows).toHaveLength(1);
  });

  it('opens the link of a second start', async () => {
    const argv = ['homeport', 'homeport://open?view=inbox/7'];
    await using rig = await openDesktop({ hidden: true, ...at(moment, (electron) => electron.secondInstance(argv)) });
    await rig.sees(() => expect(rig.electron.window?.addresses.at(-1)).toBe(`${rig.own()}/inbox/7`));
  });

  it('ignores links and second starts once it quits', async () => {
    await using rig = await openDesktop({
      hidden: true,
      ...at(moment, (electron) => {
        electron.parts.app.quit();
        electron.secondInstance([]);
        electron.events.emit('open-url', preventable(), 'homeport://open?view=inbox/7');
      }),
    });
    expect(rig.electron.exits).toEqual([0]);
    expect(rig.electron.windows.filter(({ visible }) => visible)).toEqual([]);
  });
});

describe.each(moments.slice(2))('window that is closed by the user, %s', (_, moment) => {
  const close = at(moment, (electron) => {
    electron.secondInstance([]);
    electron.window?.close();
  });

  it('quits the app when closing quits', async () => {
    await using rig = await openDesktop({ hidden: true, kept: { keepRunning: false }, ...close });
    await rig.sees(() => expect(rig.electron.exits).toEqual([0]));
    expect([rig.electron.errors, rig.electron.questions]).toEqual([[], []]);
  });

  it('is hidden when the app continues in the tray', async () => {
    await using rig = await openDesktop({ hidden: true, ...close });
    await rig.sees(() => expect(rig.electron.window?.visible).toBe(false));
    expect([rig.electron.exits, rig.electron.questions]).toEqual([[], []]);
  });

  it('asks for the effect on a desktop without a tray', async () => {
    await using rig = await openDesktop({ hidden: true, tray: false, ...close });
    await rig.sees(() => expect(rig.electron.questions).toHaveLength(1));
  });
});

it('quits for the end of the session on Windows while it starts', async () => {
  await using rig = await openDesktop({
    platform: 'win32',
    hidden: true,
    prepare(electron) {
      const { app } = electron.parts;
      const read = app.getLoginItemSettings;
      Object.assign(app, {
        getLoginItemSettings: (...options: Parameters<typeof read>) => {
          electron.endSession('win32');
          return read(...options);
        },
      });
    },
  });
  expect([rig.electron.exits, rig.electron.errors]).toEqual([[0], []]);
});

it('quits while it asks whether to move the app', async () => {
  await using rig = await openDesktop({
    platform: 'darwin',
    prepare(electron) {
      electron.isInApplicationsFolder = false;
      const { dialog, app } = electron.parts;
      const ask = dialog.showMessageBox;
      Object.assign(dialog, {
        showMessageBox: async (...question: Parameters<typeof ask>) => {
          app.quit();
          return ask(...question);
        },
      });
    },
  });
  expect([rig.electron.exits, rig.electron.errors]).toEqual([[0], []]);
});
