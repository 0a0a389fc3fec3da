import * as m from '#messages/connect-device';
import type { ServiceTab } from '../service/tabs.ts';

/** Kinds of devices in order. */
export const tabs: readonly ServiceTab[] = [
  { section: '', title: m.phone, load: () => import('./phone/ConnectPhone.svelte') },
  { section: 'tv', title: m.tv, service: 'addons', load: () => import('./ConnectTv.svelte') },
  { section: 'computer', title: m.computer, load: () => import('./ConnectComputer.svelte') },
];
