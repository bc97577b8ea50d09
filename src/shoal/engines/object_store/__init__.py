"""Objects of S3, and of any storage that speaks its protocol: copied here, and put there.

A source is copied into a private folder before it is read, so every pass reads one state of it. An
output is uploaded under a hidden key, as local files are staged under a hidden name, and copied to
its own key inside the storage once it is verified. An object is replaced as a whole: S3 shows the
old one or the new one.

boto3 finds credentials, region and endpoint where the usual tools find them: in the environment
(`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL_S3`), in `~/.aws`, and in the metadata of a machine. None
of them gets into a message.

Read `address` (URLs), then `store` (the storage, and what is staged in it); `failures` has its
errors in our words.
"""
