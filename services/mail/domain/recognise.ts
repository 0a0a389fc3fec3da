import { proxmox, synology } from './known/appliances.ts';
import { camera } from './known/camera.ts';
import { cron } from './known/cron.ts';
import { marked } from './known/marked.ts';
import type { Recogniser, Rendering, Words } from './known/program.ts';
import { mdadm, smartd } from './known/storage.ts';
import { watchtower } from './known/watchtower.ts';

/** The more particular ones first. */
const recognisers: readonly Recogniser[] = [cron, watchtower, smartd, mdadm, proxmox, synology, camera, marked];

/** How a mail of a program that many people run is told best; empty for all others. */
export function recognise(words: Words): Rendering {
  for (const recogniser of recognisers) {
    const rendering = recogniser(words);
    if (rendering !== undefined) return rendering;
  }
  return {};
}
