/** Logos by the type of a remote in rclone. */
const logos: Readonly<Record<string, string>> = {
  b2: 'backblaze',
  box: 'box',
  cloudinary: 'cloudinary',
  doi: 'doi',
  drive: 'googledrive',
  dropbox: 'dropbox',
  filen: 'filen',
  gcs: 'googlecloudstorage',
  'google cloud storage': 'googlecloudstorage',
  'google photos': 'googlephotos',
  hdfs: 'apachehadoop',
  huaweidrive: 'huawei',
  googlephotos: 'googlephotos',
  iclouddrive: 'icloud',
  internetarchive: 'internetarchive',
  mailru: 'maildotru',
  mega: 'mega',
  netstorage: 'akamai',
  protondrive: 'protondrive',
  seafile: 'seafile',
  sharefile: 'citrix',
  swift: 'openstack',
  zoho: 'zoho',
};

/** Returns the name of the logo of a type of remote; undefined without one. */
export function findRemoteLogo(type: string): string | undefined {
  return Object.hasOwn(logos, type) ? logos[type] : undefined;
}
