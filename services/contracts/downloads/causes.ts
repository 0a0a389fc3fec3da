/** Part of the app in which the failure can be fixed: a setting of the service, the engines, the cookies. */
export type FailureRemedy = 'folder' | 'private-addresses' | 'engines' | 'cookies';

/** Explanation of a failed download, with a remedy. */
export interface FailureCause {
  readonly text: string;
  readonly remedy?: FailureRemedy;
}

/** Error messages of the extractor, ffmpeg and the service, with their explanations. The first match applies. */
const causes: readonly (readonly [RegExp, FailureCause])[] = [
  [/disk is full|no space left/i, { text: 'The disk is full. Free some space, then try again.', remedy: 'folder' }],
  [
    /internal address|private address/i,
    {
      text: 'This address is in your own network, and such addresses are refused.',
      remedy: 'private-addresses',
    },
  ],
  [/folder[^.]* cannot be written/i, { text: 'The folder cannot be written. Choose another one.', remedy: 'folder' }],
  [
    /ffmpeg[^.]*(not found|missing|not installed)|ffprobe[^.]*not found/i,
    { text: 'This needs ffmpeg, which is missing. Install it, then try again.', remedy: 'engines' },
  ],
  [
    /yt-dlp[^.]*(missing|too old)/i,
    { text: 'yt-dlp is missing or too old. Install it, then try again.', remedy: 'engines' },
  ],
  [/\bDRM\b|protected/i, { text: 'The video is locked by its site (DRM) and cannot be downloaded.' }],
  [
    /not (made this video )?available (in|from) your (country|location)|geo.?restrict/i,
    { text: 'The site does not show it in your country.' },
  ],
  [
    /private|sign in|log ?in|cookies|members?[- ]only|\bage\b|HTTP Error 401|account/i,
    { text: 'The site wants a signed-in viewer. Give it the cookies of your browser.', remedy: 'cookies' },
  ],
  [
    /unsupported url|no video|no formats|requested format/i,
    { text: 'No video was found there. Check the address, or update yt-dlp.', remedy: 'engines' },
  ],
  [
    /HTTP Error (404|410)|removed|unavailable|deleted/i,
    { text: 'The video is not there any more. Check the address.' },
  ],
  [
    /HTTP Error (403|429)|too many requests/i,
    { text: 'The site refuses at the moment. Try again in a while, or update yt-dlp.', remedy: 'engines' },
  ],
  [/HTTP Error 5\d\d/i, { text: 'The site has trouble of its own. Try again later.' }],
  [
    /timed out|timeout|connection|resolve|unreachable|not known|did not say within/i,
    { text: 'The site could not be reached. Check your network, then try again.' },
  ],
];

/**
 * Explains a failed download; without a match, returns the extractor's message. Null means that there was no message.
 */
export function getFailureCause(message: string | null): FailureCause {
  if (message === null) return { text: 'The reason is not known. Try again.' };
  return causes.find(([sign]) => sign.test(message))?.[1] ?? { text: stripErrorPrefix(message) };
}

/** Removes the prefix of the extractor's message. */
export function stripErrorPrefix(message: string): string {
  return message.replace(/^ERROR:\s*(\[[^\]]*\]\s*)?/, '');
}
