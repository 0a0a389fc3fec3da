import * as m from '#messages/desktop';
import type { MenuItemConstructorOptions } from 'electron';
import type { ServiceState } from '../../services/contracts/control/api.ts';
import type { UpdateState } from '../../services/contracts/control/desktop.ts';
import { formatPausedUntil, isPaused, nextMorning, formatStatus, type MenuStatus } from '../desktop/tray-state.ts';

/** Controls of the services and of the process that runs them. */
export interface ServiceActions {
  turn(service: string, on: boolean): void;
  restart(service: string): void;
  /** Restarts the host process. */
  startAgain(): void;
}

/** Changes of the preferences of the desktop app. */
export interface PreferenceActions {
  startAtLogin(on: boolean): void;
  keepRunning(on: boolean): void;
}

/** Actions of the menu items. */
export interface MenuActions {
  /** A path of the app, e.g. `/downloads`. */
  open(path: string): void;
  readonly services: ServiceActions;
  readonly preferences: PreferenceActions;
  copy(text: string): void;
  /** ms since the epoch; null ends the pause. */
  pause(until: number | null): void;
  checkForUpdate(): void;
  quit(): void;
}

const hour = 3_600_000;

/** Builds the tray menu, again for each state: Linux desktops do not show changes in an existing menu. */
export function trayMenu(status: MenuStatus, actions: MenuActions): MenuItemConstructorOptions[] {
  return [
    { label: formatStatus(status), enabled: false },
    { type: 'separator' },
    { label: m.open(), click: () => actions.open('/') },
    ...(status.phase === 'running' ? runningItems(status, actions) : []),
    ...(status.phase === 'silent' || status.phase === 'waiting'
      ? [{ label: m.restartServices(), click: () => actions.services.startAgain() }]
      : []),
    { type: 'separator' },
    {
      label: m.startAtLogin(),
      type: 'checkbox',
      checked: status.startsAtLogin,
      click: ({ checked }) => actions.preferences.startAtLogin(checked),
    },
    {
      label: m.keepRunning(),
      type: 'checkbox',
      checked: status.keepsRunning,
      click: ({ checked }) => actions.preferences.keepRunning(checked),
    },
    ...updateItem(status.update, actions),
    { type: 'separator' },
    { label: m.quit(), click: () => actions.quit() },
  ];
}

function runningItems(status: MenuStatus, actions: MenuActions): MenuItemConstructorOptions[] {
  const { services, network, popups, downloads, now } = status;
  const paused = isPaused(popups.pausedUntil, now);
  return [
    ...(status.urgent > 0 ? [{ label: m.readMessages(), click: () => actions.open('/inbox') }] : []),
    { label: m.services(), submenu: services.map((service) => serviceItem(service, actions)) },
    ...(network === undefined ? [] : [networkItem(network, actions)]),
    {
      label: m.activeDownloads({ count: downloads }),
      click: () => actions.open('/downloads'),
    },
    {
      label: paused ? formatPausedUntil(popups.pausedUntil ?? 0, now) : m.pauseNotifications(),
      submenu: [
        { label: m.pauseForAnHour(), click: () => actions.pause(now + hour) },
        { label: m.pauseUntilMorning(), click: () => actions.pause(nextMorning(now)) },
        { label: paused ? m.resume() : m.notPaused(), enabled: paused, click: () => actions.pause(null) },
      ],
    },
  ];
}

function serviceItem(service: ServiceState, actions: MenuActions): MenuItemConstructorOptions {
  const { id, title, state, address, reason } = service;
  const submenu: MenuItemConstructorOptions[] = [];
  if (reason !== null) submenu.push({ label: truncate(reason), enabled: false });
  if (state === 'failed') submenu.push({ label: m.retry(), click: () => actions.services.restart(id) });
  submenu.push(
    state === 'off'
      ? { label: m.start(), click: () => actions.services.turn(id, true) }
      : { label: m.stop(), click: () => actions.services.turn(id, false) },
  );
  if (address !== null) submenu.push({ label: m.copyAddress({ address }), click: () => actions.copy(address) });
  return { label: m.serviceLine({ service: title, state: stateLabels[state]() }), submenu };
}

/** Item with the services that other computers reach, with its switch. */
function networkItem(network: ServiceState, actions: MenuActions): MenuItemConstructorOptions {
  const { state, detail, reason } = network;
  const label = state === 'up' && detail !== '' ? detail : stateLabels[state]();
  return {
    label: m.network({ state: label }),
    submenu: [
      ...(reason === null ? [] : [{ label: truncate(reason), enabled: false }]),
      {
        label: m.allowOtherDevices(),
        type: 'checkbox' as const,
        checked: state !== 'off' && state !== 'stopping',
        click: () => actions.services.turn(network.id, state === 'off'),
      },
      { label: m.sharedServices(), click: () => actions.open('/network') },
    ],
  };
}

const stateLabels: Readonly<Record<ServiceState['state'], () => string>> = {
  off: m.stateOff,
  starting: m.stateStarting,
  up: m.stateUp,
  degraded: m.stateDegraded,
  failed: m.stateFailed,
  stopping: m.stateStopping,
};

function updateItem(update: UpdateState, actions: MenuActions): MenuItemConstructorOptions[] {
  switch (update) {
    case 'absent':
      return [];
    case 'ready':
      return [{ label: m.updateReady(), enabled: false }];
    case 'checking':
    case 'loading':
      return [{ label: update === 'checking' ? m.updateChecking() : m.updateLoading(), enabled: false }];
    case 'idle':
    case 'failed':
      return [{ label: m.checkForUpdates(), click: () => actions.checkForUpdate() }];
  }
}

/** Limits the width of the menu, which is that of its longest line. */
function truncate(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
