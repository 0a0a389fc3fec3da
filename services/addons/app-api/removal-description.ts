import * as labels from '#messages/addons-rules';
import * as t from '#messages/addons-texts';
import type { Removal, RemovalRule } from '../domain/removal.ts';
import { attributeLabels, type AttributeLabel } from '../domain/stream-attributes.ts';

type DescribeRemoval = (removal: Removal) => string;

/** Describes why a stream is hidden, in the language of the reader. Clients of Stremio get the name of the rule. */
export function describeRemoval(removal: Removal): string {
  return descriptions[removal.rule](removal);
}

const attributeNames: Readonly<Record<AttributeLabel, () => string>> = {
  Resolution: labels.resolution,
  Quality: labels.quality,
  Language: labels.languageOfTheSound,
  Subtitle: labels.languageOfTheSubtitles,
  'Visual Tag': labels.picture,
  'Audio Tag': labels.sound,
  'Audio Channel': labels.channels,
  'Stream Type': labels.kindOfStream,
  Encode: labels.encoding,
  'Release Group': labels.releaseGroup,
  Keyword: labels.wordsInTheName,
  Expression: t.regularExpression,
};

const formatValue: DescribeRemoval = ({ note, value }) => (note === 'unknown' ? t.unknownValue() : value);

const describeExcluded =
  (label: AttributeLabel): DescribeRemoval =>
  ({ value }) =>
    t.removedExcluded({ attribute: attributeNames[label](), value });

const describeRequired =
  (label: AttributeLabel): DescribeRemoval =>
  ({ value }) => {
    const attribute = attributeNames[label]();
    return value === '' ? t.removedWithoutRequired({ attribute }) : t.removedNotRequired({ attribute, value });
  };

type AttributeRule = `${'Excluded' | 'Required'} ${AttributeLabel}`;

/** Descriptions of the rules for attributes. */
const attributeDescriptions = Object.fromEntries(
  Object.values(attributeLabels).flatMap((label) => [
    [`Excluded ${label}`, describeExcluded(label)],
    [`Required ${label}`, describeRequired(label)],
  ]),
) as Record<AttributeRule, DescribeRemoval>;

const descriptions: Readonly<Record<RemovalRule, DescribeRemoval>> = {
  ...attributeDescriptions,
  'Required Keyword': ({ value }) => t.removedKeywordMissing({ keywords: value }),
  'Required Expression': t.removedExpressionMissing,
  'Excluded Cached': t.removedCached,
  'Excluded Uncached': t.removedUncached,
  'Excluded Season Pack': t.removedSeasonPack,
  'Excluded Seeders': (removal) => t.removedSeedersExcluded({ seeders: formatValue(removal) }),
  'Required Seeders': (removal) => t.removedSeedersRequired({ seeders: formatValue(removal) }),
  'Excluded Age': (removal) => t.removedAgeExcluded({ age: formatValue(removal) }),
  'Required Age': (removal) => t.removedAgeRequired({ age: formatValue(removal) }),
  'Excluded Stream Expression': ({ value }) => t.removedStreamExpression({ expression: value }),
  'Required Stream Expression': t.removedStreamExpressionMissing,
  'Excluded Certification': (removal) => t.removedRatingExcluded({ rating: formatValue(removal) }),
  'Required Certification': (removal) => t.removedRatingRequired({ rating: formatValue(removal) }),
  'Excluded Nudity': ({ value }) => t.removedNudity({ level: value }),
  'Size Limit': ({ note }) => (note === 'too_small' ? t.removedTooSmall() : t.removedTooLarge()),
  'Bitrate Limit': ({ note }) => (note === 'too_small' ? t.removedBitrateTooLow() : t.removedBitrateTooHigh()),
  'Result Limit': t.removedBeyondLimit,
  'Title Matching': ({ value }) => t.removedTitle({ title: value }),
  'Year Matching': ({ note, value }) => (note === 'no_year' ? t.removedNoYear() : t.removedYear({ year: value })),
  'Season/Episode Matching': ({ note, value }) =>
    note === 'no_season' ? t.removedNoSeason() : t.removedEpisode({ episode: value }),
  Duplicate: t.removedDuplicate,
  'Not Released': ({ note, value }) =>
    note === 'no_date' ? t.removedNotReleasedYet() : t.removedNotReleased({ date: value }),
};
