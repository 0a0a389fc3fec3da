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
  paused: m.paused,
  finished: m.finished,
  failed: m.failed,
};

/**
 * Formats the status of a download, such as `Video 62 %, then audio · 3.1 MB/s · 0:42 left`.
 *
 * @param waitsUntil Start of the next download hours; empty when it is unknown, `null` during the hours.
 */
export function formatStatus(download: Download, queuePaused: boolean, waitsUntil: string | null): string {
  const { state, percent, speed, eta, message } = download;
  const share = percent === null ? undefined : m.percent({ percent: Math.floor(percent) });
  if (state === 'waiting' && download.startsAt !== undefined)
    return m.beginsAt({ time: formatFullTime(download.startsAt) });
  if (state === 'downloading' && download.live === true) return message ?? m.recording();
  if (state === 'paused') return share === undefined ? m.paused() : m.pausedAt({ share });
  if (state === 'waiting' && queuePaused) return m.waitingForResume();
  if (state === 'waiting' && waitsUntil !== null && download.anyway !== true) {
    return waitsUntil === '' ? m.waitingForHours() : m.waitingUntil({ time: waitsUntil });
  }
  if (state !== 'downloading') return message ?? stateLabels[state]();
  return [
    formatTransfer(download, share),
    speed === null ? '' : m.perSecond({ size: formatBytes(speed) }),
    eta === null ? '' : m.timeLeft({ time: formatDuration(eta) }),
  ]
    .filter((part) => part !== '')
    .join(' · ');
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

const remedyPages: Readonly<Record<FailureRemedy, NonNullable<Advice['page']>>> = {
  folder: {
    href: '/settings/downloads/downloadDir',
    get title() {
      return m.downloadFolder();
    },
    adminOnly: true,
  },
  'private-addresses': {
    href: '/settings/downloads/allowPrivateAddresses',
    get title() {
      return m.allowPrivateAddresses();
    },
    adminOnly: true,
  },
  engines: {
    href: '/settings/engines',
    get title() {
      return m.engines();
    },
    adminOnly: true,
  },
  cookies: {
    href: '/downloads/cookies',
    get title() {
      return m.cookies();
    },
    adminOnly: false,
  },
};

/** Returns advice about a failed download; without a known cause, the message of the extractor. */
export function getFailureAdvice(failure: Failure): Advice {
  const { text, remedy } = getFailureCause(failure);
  return remedy === undefined ? { text } : { text, page: remedyPages[remedy] };
}
