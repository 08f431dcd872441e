"""webdataset's reader over shards in S3, in the ways that its users have: a pipe
from curl with presigned URLs, and openers of s3:// that boto3 and s3fs make."""
import os
import shlex
import sys

import boto3
import s3fs
import webdataset as wds
from botocore.config import Config

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "records"))
import common


def parts(name):
    bucket, _, key = name.removeprefix("s3://").partition("/")
    return bucket, key


def main():
    out = common.answers()
    way, folder = sys.argv[1:]
    client = boto3.client("s3", config=Config(signature_version="s3v4"))
    bucket, prefix = parts(folder)
    shards = sorted(o["Key"] for o in client.list_objects_v2(Bucket=bucket, Prefix=prefix + "/")["Contents"] if o["Key"].endswith(".tar"))
    names = [f"s3://{bucket}/{k}" for k in shards]
    if way == "pipe":
        names = ["pipe:curl -s -f " + shlex.quote(client.generate_presigned_url("get_object", {"Bucket": bucket, "Key": k})) for k in shards]
    elif way == "boto3":
        def gopen(url, mode="rb", bufsize=8192, **kw):
            b, k = parts(url)
            return client.get_object(Bucket=b, Key=k)["Body"]
        wds.gopen_schemes["s3"] = gopen
    else:
        fs = s3fs.S3FileSystem(endpoint_url=os.environ["AWS_ENDPOINT_URL_S3"])
        wds.gopen_schemes["s3"] = lambda url, mode="rb", bufsize=8192, **kw: fs.open(url, "rb")

    def records(use):
        n = 0
        for s in wds.WebDataset(names, shardshuffle=False):
            n += 1
            for key, value in s.items():
                if not key.startswith("__"):
                    use(value)
        return n

    records(common.read)
    common.serve(out, wds.__version__, lambda: records(common.read), records)


main()
