import { z } from 'zod';

/** Known causes of failed downloads and checks. */
export const FailureCode = z.enum([
  'disk_full',
  'internal_address',
  'folder_not_writable',
  'ffmpeg_missing',
  'yt_dlp_missing',
  'drm_protected',
  'geo_restricted',
  'sign_in_required',
  'no_video',
  'not_found',
  'unavailable',
  'refused_by_site',
  'site_error',
  'unreachable',
]);
export type FailureCode = z.infer<typeof FailureCode>;

/** Part of the app in which the failure can be fixed: a setting of the service, the engines, the cookies. */
export type FailureRemedy = 'folder' | 'private-addresses' | 'engines' | 'cookies';

/** Explanation of a failed download, with a remedy. */
export interface FailureCause {
  readonly text: string;
  readonly remedy?: FailureRemedy;
}

const notFound = { text: 'The video is not there any more. Check the address.' };

const causes: Readonly<Record<FailureCode, FailureCause>> = {
  disk_full: { text: 'The disk is full. Free some space, then try again.', remedy: 'folder' },
  internal_address: {
    text: 'This address is in your own network, and such addresses are refused.',
    remedy: 'private-addresses',
  },
  folder_not_writable: { text: 'The folder cannot be written. Choose another one.', remedy: 'folder' },
  ffmpeg_missing: { text: 'This needs ffmpeg, which is missing. Install it, then try again.', remedy: 'engines' },
  yt_dlp_missing: { text: 'yt-dlp is missing or too old. Install it, then try again.', remedy: 'engines' },
  drm_protected: { text: 'The video is locked by its site (DRM) and cannot be downloaded.' },
  geo_restricted: { text: 'The site does not show it in your country.' },
  sign_in_required: {
    text: 'The site wants a signed-in viewer. Give it the cookies of your browser.',
    remedy: 'cookies',
  },
  no_video: { text: 'No video was found there. Check the address, or update yt-dlp.', remedy: 'engines' },
  not_found: notFound,
  unavailable: notFound,
  refused_by_site: {
    text: 'The site refuses at the moment. Try again in a while, or update yt-dlp.',
    remedy: 'engines',
  },
  site_error: { text: 'The site has an internal error. Try again later.' },
  unreachable: { text: 'The site could not be reached. Check your network, then try again.' },
};

/** Failure with its message and, if known, its cause. */
export interface Failure {
  readonly message: string | null;
  readonly failure?: FailureCode | undefined;
}

/**
 * Explains a failed download; without a known cause, returns the extractor's message. A null message means that the
 * reason is unknown.
 */
export function getFailureCause({ message, failure }: Failure): FailureCause {
  if (failure !== undefined) return causes[failure];
  return { text: message === null ? 'The reason is not known. Try again.' : stripErrorPrefix(message) };
}

/** Removes the prefix of the extractor's message. */
export function stripErrorPrefix(message: string): string {
  return message.replace(/^ERROR:\s*(\[[^\]]*\]\s*)?/, '');
}
