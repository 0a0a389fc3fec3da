import { proxmox, synology } from './senders/appliances.ts';
import { camera } from './senders/camera.ts';
import { cron } from './senders/cron.ts';
import { subjectPrefix } from './senders/subject-prefix.ts';
import type { Recognizer, Rendering, MailText } from './senders/program.ts';
import { mdadm, smartd } from './senders/storage.ts';
import { knownOutcome } from './senders/verdicts.ts';
import { watchtower } from './senders/watchtower.ts';

/** Ordered from specific to general. */
const recognizers: readonly Recognizer[] = [
  cron,
  watchtower,
  smartd,
  mdadm,
  proxmox,
  synology,
  camera,
  subjectPrefix,
  knownOutcome,
];

/** Returns the improved rendering of a mail from a known program; empty for other mails. */
export function recognizeMail(mail: MailText): Rendering {
  for (const recognizer of recognizers) {
    const rendering = recognizer(mail);
    if (rendering !== undefined) return rendering;
  }
  return {};
}
