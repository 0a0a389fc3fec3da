import { proxmox, synology } from './senders/appliances.ts';
import { camera } from './senders/camera.ts';
import { cron } from './senders/cron.ts';
import { marked } from './senders/subject-prefix.ts';
import type { Recogniser, Rendering, Words } from './senders/program.ts';
import { mdadm, smartd } from './senders/storage.ts';
import { verdict } from './senders/verdicts.ts';
import { watchtower } from './senders/watchtower.ts';

/** The more particular ones first. */
const recognisers: readonly Recogniser[] = [
  cron,
  watchtower,
  smartd,
  mdadm,
  proxmox,
  synology,
  camera,
  marked,
  verdict,
];

/** How a mail of a program that many people run is told best; empty for all others. */
export function recognise(words: Words): Rendering {
  for (const recogniser of recognisers) {
    const rendering = recogniser(words);
    if (rendering !== undefined) return rendering;
  }
  return {};
}
