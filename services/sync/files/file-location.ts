import * as m from '#messages/sync-problems';
import { hasWindowsPaths } from '../../kit/platform/file-systems.ts';
import { currentPlatform } from '../../kit/platform/current-platform.ts';
import { CallError } from '../access/call-error.ts';
import { findCommandOption } from '../domain/command-options.ts';
import { hasDotSegments, parseLocation, splitLocation, type Location } from '../domain/location.ts';

const windows = hasWindowsPaths(currentPlatform);

/**
 * Parses the location of a file or folder. The pages name no remotes with options in the text.
 * @throws CallError 400
 */
export function requireLocation(text: string): Exclude<Location, { readonly kind: 'inline' }> {
  const location = parseLocation(text, windows);
  if (location.kind === 'inline' || hasDotSegments(location.path) || findCommandOption(text) !== undefined)
    throw new CallError(400, 'not a folder or remote', m.notFolderOrRemote);
  return location;
}

/** Splits the path of a file or folder. @throws CallError 400 for the top of a disk or remote. */
export function requireSplitLocation(text: string): { readonly folder: string; readonly name: string } {
  requireLocation(text);
  const parts = splitLocation(text, windows);
  if (parts === undefined) throw new CallError(400, 'the top folder', m.topFolderFixed);
  return parts;
}
