import type { StoredFile } from '../releases/stored-files.ts';
import type { AssetRow, ReleaseRow } from '../store/repository-relations.ts';
import type { RepositoryAddress } from './commits.ts';
import { formatTime } from './time.ts';

/** Converts a release to JSON. */
export function releaseJson(
  row: ReleaseRow,
  assets: readonly AssetRow[],
  { base, full }: RepositoryAddress,
  author: unknown,
) {
  const api = `${base}/api/v1/repos/${full}/releases/${row.id}`;
  const web = `${base}/${full}`;
  return {
    id: row.id,
    tag_name: row.tag,
    target_commitish: row.target,
    name: row.title,
    body: row.body,
    url: api,
    html_url: `${web}/releases/tag/${row.tag}`,
    tarball_url: `${web}/archive/${row.tag}.tar.gz`,
    zipball_url: `${web}/archive/${row.tag}.zip`,
    upload_url: `${api}/assets`,
    draft: row.draft === 1,
    prerelease: row.prerelease === 1,
    created_at: formatTime(row.created_at),
    published_at: formatTime(row.published_at),
    author,
    assets: assets.map((asset) =>
      assetJson(asset, `${web}/releases/download/${row.tag}/${encodeURIComponent(asset.name)}`),
    ),
  };
}

export function assetJson(row: StoredFile, address: string) {
  return {
    id: row.id,
    name: row.name,
    size: row.size,
    download_count: row.downloads,
    created_at: formatTime(row.created_at),
    uuid: row.uuid,
    browser_download_url: address,
  };
}
