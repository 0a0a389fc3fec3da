import * as m from '#messages/engine-texts';
import { SourceUnavailable } from './source-unavailable.ts';

const mebibyte = 1024 ** 2;
const gibibyte = 1024 ** 3;

/** Returns the error for a file that exceeds a size limit. */
export function createSizeError(file: string, maxBytes: number): SourceUnavailable {
  return new SourceUnavailable(() => m.fileTooLarge({ file, limit: formatLimit(maxBytes) }));
}

/** Returns the error for an archive whose content exceeds a size limit. */
export function createContentSizeError(file: string, maxBytes: number): SourceUnavailable {
  return new SourceUnavailable(() => m.contentTooLarge({ file, limit: formatLimit(maxBytes) }));
}

function formatLimit(bytes: number): string {
  if (bytes % gibibyte === 0) return `${bytes / gibibyte} GiB`;
  if (bytes % mebibyte === 0) return `${bytes / mebibyte} MiB`;
  return `${bytes} bytes`;
}
