import { z } from 'zod';
import { defineTopic } from '../../../services/contracts/bus.ts';
import { liveTopic } from '../../../services/contracts/control/live.ts';
import { mayRead } from '../../../services/contracts/route-access.ts';
import { defineManifest } from '../../../services/contracts/service.ts';

/** Event of the arrival of a ship. */
export const shipArrived = defineTopic('harbour.ship', z.object({ name: z.string() }));

/** Example service that uses each part of the contract once. */
export const manifest = defineManifest({
  id: 'harbour',
  title: 'Harbour',
  summary: 'For tests.',
  group: 'data',
  listeners: [
    { name: 'http', title: 'Office', protocol: 'http', port: 0, crossOrigin: 'credentialed' },
    { name: 'radio', title: 'Radio', protocol: 'tcp', scheme: 'radio', port: 0 },
  ],
  settings: z.object({}),
  environment: {},
  migrations: [],
  excludedFromCopy: ['log'],
  engines: [
    {
      name: 'tide',
      title: 'Tide',
      purpose: 'Tells the water.',
      absence: 'Nobody knows the water.',
      removal: 'Ships wait.',
      path: { setting: 'tidePath', variable: 'TIDE_PATH', description: 'The tide program to use.' },
      version: { arguments: ['--version'], pattern: /^tide (\d+\.\d+)$/ },
      sources: [],
    },
  ],
  live: [liveTopic(shipArrived, mayRead('harbour'))],
  accounts: [
    { name: 'pilot', description: 'Brings ships in.', grants: [{ resource: 'basin-*', permission: 'write' }] },
  ],
});
