import type { Context } from '../../contracts/service.ts';
import type { Settings } from '../settings.ts';
import { DigitalReleases } from './digital-releases.ts';
import { SeaDex } from './seadex.ts';
import { TitleLookup } from './titles.ts';

/** Sources of metadata of titles. */
export interface Metadata {
  readonly titles: TitleLookup;
  readonly digital: DigitalReleases;
  readonly seadex: SeaDex;
}

export function createMetadata(context: Context, settings: Settings): Metadata {
  return {
    titles: new TitleLookup(context, settings.metadataUrl),
    digital: new DigitalReleases(context, settings.tmdbUrl),
    seadex: new SeaDex(context, { list: settings.seadexUrl, mapping: settings.animeMappingUrl }),
  };
}
