import type { Settings } from '../settings.ts';

/** Returns the path prefix of the service, with a slash at both ends. */
export function getPathPrefix({ urlPrefix }: Pick<Settings, 'urlPrefix'>): string {
  return `/${urlPrefix.replaceAll(/^\/+|\/+$/g, '')}/`.replace('//', '/');
}

/** Returns the base of links to finished files, with a slash at the end: a web address, or a path relative to the service. */
export function getPublicBases({ publicUrl, publicAudioUrl }: Pick<Settings, 'publicUrl' | 'publicAudioUrl'>): {
  readonly download: string;
  readonly audio: string;
} {
  const withTrailingSlash = (base: string): string => (base.endsWith('/') ? base : `${base}/`);
  return {
    download: withTrailingSlash(publicUrl || 'download'),
    audio: withTrailingSlash(publicAudioUrl || 'audio_download'),
  };
}
