import { describeActivity } from '../../../../../services/contracts/downloads/activity.ts';
import * as m from '#messages/downloads';
import type { Download } from '../../../../../services/contracts/downloads/api.ts';
import {
  getFailureCause,
  type Failure,
  type FailureRemedy,
} from '../../../../../services/contracts/downloads/causes.ts';
import { formatBytes, formatDuration, formatFullTime } from '../../../parts/text/format.ts';

const stateLabels: Readonly<Record<Download['state'], () => string>> = {
  pending: m.waitsForStart,
  waiting: m.waitingForTurn,
  preparing: m.preparing,
  downloading: m.downloading,
  postprocessing: m.postprocessing,
  paused: m.downloadPaused,
  finished: m.downloadFinished,
  failed: m.downloadFailed,
};

/**
 * Formats the status of a download, such as `Video 62 %, then audio`, `3.1 MB/s` and `0:42 left`.
 *
 * @param waitsUntil Start of the next download hours; empty when it is unknown, `null` during the hours.
 */
export function listStatus(download: Download, queuePaused: boolean, waitsUntil: string | null): readonly string[] {
  const { state, percent, speed, eta, activity } = download;
  const message = activity === undefined ? getMessage(download) : describeActivity(activity);
  const share = percent === null ? undefined : m.percent({ percent: Math.floor(percent) });
  if (state === 'waiting' && download.startsAt !== undefined)
    return [m.beginsAt({ time: formatFullTime(download.startsAt) })];
  if (state === 'downloading' && download.live === true) return [message ?? m.recording()];
  if (state === 'paused') return [share === undefined ? m.downloadPaused() : m.pausedAt({ share })];
  if (state === 'waiting' && queuePaused) return [m.waitingForResume()];
  if (state === 'waiting' && waitsUntil !== null && download.anyway !== true) {
    return [waitsUntil === '' ? m.waitingForHours() : m.waitingUntil({ time: waitsUntil })];
  }
  if (state !== 'downloading') return [message ?? stateLabels[state]()];
  return [
    formatTransfer(download, share),
    speed === null ? '' : m.perSecond({ size: formatBytes(speed) }),
    eta === null ? '' : m.timeLeft({ time: formatDuration(eta) }),
  ].filter((part) => part !== '');
}

/** Returns the message of a download; for a finished one, its known cause in the language of the page. */
function getMessage(download: Download): string | null {
  const { failure, message, state } = download;
  return state === 'finished' && failure !== undefined ? getFailureCause(download).text : message;
}

function formatTransfer({ stream }: Download, share: string | undefined): string {
  if (stream === 'video') return share === undefined ? m.videoThenAudio() : m.videoThenAudioAt({ share });
  if (stream === 'audio') return share === undefined ? m.audio() : m.audioAt({ share });
  return share === undefined ? m.downloading() : m.downloadingAt({ share });
}

/** Advice about a failure, with the page that solves it. */
export interface Advice {
  readonly text: string;
  readonly page?: { readonly href: string; readonly title: string; readonly adminOnly: boolean };
}

/** A page as in `Advice`, whose title is formatted when it is shown. */
interface RemedyPage {
  readonly href: string;
  readonly title: () => string;
  readonly adminOnly: boolean;
}

const remedyPages: Readonly<Record<FailureRemedy, RemedyPage>> = {
  folder: {
    href: '/settings/downloads/downloadDir',
    title: m.downloadFolder,
    adminOnly: true,
  },
  'private-addresses': {
    href: '/settings/downloads/allowPrivateAddresses',
    title: m.allowPrivateAddresses,
    adminOnly: true,
  },
  engines: {
    href: '/settings/engines',
    title: m.engines,
    adminOnly: true,
  },
  cookies: {
    href: '/downloads/cookies',
    title: m.cookies,
    adminOnly: false,
  },
};

/** Returns advice about a failed download; without a known cause, the message of the extractor. */
export function getFailureAdvice(failure: Failure): Advice {
  const { text, remedy } = getFailureCause(failure);
  if (remedy === undefined) return { text };
  const page = remedyPages[remedy];
  return { text, page: { ...page, title: page.title() } };
}
