import * as m from '#messages/downloads-problems';
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
  'invalid_address',
  'scheme_not_supported',
  'folders_disabled',
  'folder_outside',
  'folder_missing',
  'internal_error',
  'file_outside',
  'connection_refused',
  'engine_killed',
  'engine_exited',
  'engine_ended',
  'engine_output_empty',
  'engine_output_invalid',
  'nothing_recorded',
  'no_file_created',
  'conversion_failed',
  'captions_not_convertible',
  'no_captions',
  'single_video',
  'filter_too_slow',
  'preview_timed_out',
  'already_archived',
]);
/** Code of a failure that Homeport states itself. */
export type FailureCode = z.infer<typeof FailureCode>;

/** Values of the text of a failure, such as the languages of the captions that a video has. */
export const FailureParameters = z.record(z.string(), z.string());
/** Values of the text of a failure. */
export type FailureParameters = Readonly<z.infer<typeof FailureParameters>>;

/** Part of the app in which the failure can be fixed: a setting of the service, the engines, the cookies. */
export type FailureRemedy = 'folder' | 'private-addresses' | 'engines' | 'cookies';

/** Explanation of a failed download, with a remedy. */
export interface FailureCause {
  readonly text: string;
  readonly remedy?: FailureRemedy;
}

interface Cause {
  readonly text: (parameters: FailureParameters) => string;
  /** The text has parameters; without them, the message of the failure is shown. */
  readonly hasParameters?: true;
  readonly remedy?: FailureRemedy;
}

/** Texts of the causes, with the remedies. */
const causes: Readonly<Record<FailureCode, Cause>> = {
  disk_full: { text: describeFullDisk, remedy: 'folder' },
  internal_address: { text: m.internalAddress, remedy: 'private-addresses' },
  folder_not_writable: { text: describeUnwritableFolder, remedy: 'folder' },
  ffmpeg_missing: { text: m.ffmpegRequired, remedy: 'engines' },
  yt_dlp_missing: { text: m.ytDlpRequired, remedy: 'engines' },
  drm_protected: { text: m.drmProtected },
  geo_restricted: { text: m.geoRestricted },
  sign_in_required: { text: m.signInRequired, remedy: 'cookies' },
  no_video: { text: m.noVideo, remedy: 'engines' },
  not_found: { text: m.videoNotFound },
  unavailable: { text: m.videoNotFound },
  refused_by_site: { text: m.refusedBySite, remedy: 'engines' },
  site_error: { text: m.siteError },
  unreachable: { text: ({ event }) => (event === 'timeout' ? m.probeTimedOut() : m.siteUnreachable()) },
  invalid_address: { text: m.invalidAddress },
  scheme_not_supported: { text: m.schemeNotSupported },
  folders_disabled: { text: m.foldersDisabled },
  folder_outside: { text: m.folderOutside },
  folder_missing: { text: m.folderMissing },
  internal_error: { text: m.internalError },
  file_outside: { text: m.fileOutside },
  connection_refused: { text: ({ error = '' }) => m.connectionRefused({ error }), hasParameters: true },
  engine_killed: { text: m.engineKilled },
  engine_exited: {
    hasParameters: true,
    text: ({ code = '', line }) =>
      line === undefined ? m.engineExited({ code }) : m.engineExitedWithLine({ code, line }),
  },
  engine_ended: {
    hasParameters: true,
    text: ({ signal = '', line }) =>
      line === undefined ? m.engineEnded({ signal }) : m.engineEndedWithLine({ signal, line }),
  },
  engine_output_empty: { text: m.engineOutputEmpty, remedy: 'engines' },
  engine_output_invalid: { text: m.engineOutputInvalid, remedy: 'engines' },
  nothing_recorded: { text: m.nothingRecorded },
  no_file_created: { text: m.noFileCreated },
  conversion_failed: {
    hasParameters: true,
    text: ({ line }) => (line === undefined ? m.conversionFailed() : m.conversionFailedWithLine({ line })),
  },
  captions_not_convertible: {
    hasParameters: true,
    text: ({ source = '', target = '' }) => m.captionsNotConvertible({ source, target }),
  },
  no_captions: { text: describeMissingCaptions, hasParameters: true },
  single_video: { text: m.singleVideo },
  filter_too_slow: { text: m.filterTooSlow },
  preview_timed_out: { text: m.previewTimedOut },
  already_archived: { text: m.alreadyArchived },
};

/** Describes which disk is full: that of the folder for unfinished files (`work`), or of the downloads (`download`). */
function describeFullDisk({ place, error }: FailureParameters): string {
  if (place === 'work') return m.workFolderDiskFull();
  if (place === 'download') return m.downloadFolderDiskFull();
  return error === undefined ? m.diskFull() : m.diskFullWithError({ error });
}

/** Describes which folder is not writable, with the code of the system or the error of the extractor. */
function describeUnwritableFolder({ place, error, reason = '', folder = '' }: FailureParameters): string {
  if (error !== undefined) return m.workFolderNotWritable({ error });
  if (place === 'work') return m.workFolderNotWritableAt({ reason, folder });
  return place === 'download' ? m.downloadFolderNotWritable({ reason, folder }) : m.folderNotWritable();
}

/** Describes that the site lacks the captions of a request, with the languages that it has. */
function describeMissingCaptions({ kind = 'any', language = '', manual, automatic }: FailureParameters): string {
  if (manual === undefined) {
    return automatic === undefined
      ? m.noCaptions({ kind, language })
      : m.noCaptionsOnlyAutomatic({ kind, language, automatic });
  }
  return automatic === undefined
    ? m.noCaptionsOnlyManual({ kind, language, manual })
    : m.noCaptionsInLanguage({ kind, language, manual, automatic });
}

/** Failure with its message and, if known, its cause and the values of the cause's text. */
export interface Failure {
  readonly message: string | null;
  readonly failure?: FailureCode | undefined;
  readonly failureParameters?: FailureParameters | undefined;
}

/**
 * Explains a failed download; without a known cause, returns the extractor's message. A null message means that the
 * reason is unknown.
 */
export function getFailureCause({ message, failure, failureParameters }: Failure): FailureCause {
  if (failure === undefined) return { text: message === null ? m.unknownReason() : stripErrorPrefix(message) };
  const { text, hasParameters, remedy } = causes[failure];
  const isIncomplete = hasParameters === true && failureParameters === undefined && message !== null;
  const explanation = isIncomplete ? stripErrorPrefix(message) : text(failureParameters ?? {});
  return { text: explanation, ...(remedy === undefined ? {} : { remedy }) };
}

/** Removes the prefix of the extractor's message. */
export function stripErrorPrefix(message: string): string {
  return message.replace(/^ERROR:\s*(\[[^\]]*\]\s*)?/, '');
}
