"""A hook of WiredTiger's test suite (its wthooks.py): loads nvcache's extension in every open.

    run.py --hook nvcache=/path/libnvcache_wiredtiger.so base backup ...

The cache is small, so that it evicts, and admits everything. Databases in memory have no files.
"""
import re

import wthooks

CACHE = 'cache=(size=4MiB,medium=dram,admission=always,eviction=clock)'


def with_extension(library, config):
    config = config or ''
    if 'in_memory=true' in config or 'in_memory,' in config:
        return config
    ours = f'"{library}"=(early_load=true,config=({CACHE}))'
    # WiredTiger reads the last list of extensions only.
    lists = list(re.finditer(r'extensions=[\[(]', config))
    if not lists:
        return f'{config},extensions=[{ours}]'
    end = lists[-1].end()
    return f'{config[:end]}{ours},{config[end:]}'


class NvcacheHookCreator(wthooks.WiredTigerHookCreator):
    def __init__(self, library):
        self.library = library

    def register_skipped_tests(self, tests):
        pass

    def get_platform_api(self):
        return wthooks.DefaultPlatformAPI()

    def setup_hooks(self):
        def arguments(_, args):
            args = list(args)
            if len(args) < 2:
                args.append('')
            args[1] = with_extension(self.library, args[1])
            return args

        self.wiredtiger['wiredtiger_open'] = (wthooks.HOOK_ARGS, arguments)


def initialize(arg):
    return [NvcacheHookCreator(arg)]
